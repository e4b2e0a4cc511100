import AppStoreReceipts
import BackendConformance
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
package import PurchaseSyncTesting

/// A backend that is right in another way than the mock: the rules leave it free. No check may fail it.
package struct RightVariant: Sendable, CustomStringConvertible {
  package var name: String
  /// The checks that look at what is different.
  package var about: Set<String>
  package var hooks: BrokenHooks

  package var description: String { name }

  package static let all: [RightVariant] = [
    RightVariant(
      name: "absent members are null",
      about: ["owner-unnamed", "order-last-page", "order-times", "form-orders"],
      hooks: changingAnswers { json in nulled(json) }),
    RightVariant(
      name: "answers have more members", about: ["form-order", "form-verdicts", "form-entitlements"],
      hooks: changingAnswers { json in widened(json) }),
    RightVariant(
      name: "a cursor has any characters",
      about: ["order-pages", "order-pages-all", "order-filter-pages", "order-last-page"],
      hooks: BrokenHooks(
        before: { _, call in
          if let after = call.request.query["after"] {
            guard after.hasPrefix(cursor), after.hasSuffix("==") else { throw HTTPProblem.malformed("after") }
            call.request.query["after"] = String(after.dropFirst(cursor.count).dropLast(2))
          }
          return nil
        },
        answers: { response, call, _ in
          try changeJSON(of: &response, to: call) { json in
            guard let next = json["next"]?.string else { return json }
            return with(json, "next", .string(cursor + next + "=="))
          }
        })),
    RightVariant(
      name: "a number of an order has any characters",
      about: ["order-read", "order-listed", "claimed-order", "order-ended", "owner-unnamed"],
      hooks: BrokenHooks(
        before: { _, call in
          call.parameter = call.parameter.replacing(mark, with: "")
          call.request.query["after"] = call.request.query["after"]?.replacing(mark, with: "")
          let body = String(decoding: call.request.body, as: UTF8.self)
          if body.contains(mark) { call.request.body = Array(body.replacing(mark, with: "").utf8) }
          return nil
        },
        answers: { response, _, _ in
          guard response.status < 300 else { return }
          for name in ["number", "orderNumber", "next"] {
            let made = String(decoding: response.body, as: UTF8.self)
            response.body = Array(
              made.replacing("\"\(name)\":\"order-", with: "\"\(name)\":\"\(mark)order-").utf8)
          }
        })),
    RightVariant(
      name: "another account's order is not found",
      about: ["order-private", "order-not-ended", "forbidden-silent", "forbidden-type"],
      hooks: BrokenHooks(answers: { response, call, _ in
        if call.request.path.hasPrefix("/v1/orders/"), response.status == 403 {
          response = HTTPProblem.notFound("there is no such order").response
        }
      })),
    RightVariant(
      name: "notifications are taken with a 202", about: ["notification-open", "refund-notified"],
      hooks: BrokenHooks(answers: { response, call, _ in
        if call.request.path == MockState.notificationPath, response.status == 200 { response.status = 202 }
      })),
    RightVariant(
      name: "tokens are in small letters", about: ["order-made", "token-alone", "register-token"],
      hooks: changingAnswers { json in
        json["accountToken"]?.string.map { with(json, "accountToken", .string($0.lowercased())) } ?? json
      }),
    RightVariant(
      name: "an expired chain is unknownTransaction", about: ["proof-expired", "rejected-reason"],
      hooks: BrokenHooks(verdicts: { _, reply, call, _ in
        for index in reply.verdicts.indices where reply.verdicts[index].reason?.hasPrefix("forged") == true {
          let isReceipt = call.request.upload?.proofs.contains { $0.kind == .appReceipt } ?? false
          guard !isReceipt else { continue }
          (reply.verdicts[index].verdict, reply.verdicts[index].reason) = (.unknownTransaction, nil)
        }
      })),
    RightVariant(
      name: "an unpaid order ends after an hour", about: ["order-times", "order-list-as-read", "form-order"],
      hooks: changingAnswers { json in
        guard case .integer(let made)? = json["createdAt"] else { return json }
        return with(json, "expiresAt", .integer(made + 3_600_000))
      }),
    RightVariant(
      name: "a subscription of an earlier run ends",
      about: ["plan-downgraded", "parallel-periods", "grace-end"],
      hooks: endingSubscriptions),
    RightVariant(
      name: "refusals are 400 or 409 in place of 422",
      about: ["order-product", "upload-malformed", "no-such-proof", "register-path"],
      hooks: BrokenHooks(answers: { response, call, _ in
        guard response.status == 422 else { return }
        response = HTTPProblem.malformed("the request").response
      })),
    RightVariant(
      name: "a silent store is a 503 with Retry-After",
      about: ["notification-silent", "claim-store-silent", "claim-store-refuses", "claim-store-unsigned"],
      hooks: BrokenHooks(answers: { response, call, _ in
        let isAsking = call.request.upload.map { $0.proofs.isEmpty } ?? false
        if isAsking, response.status == 200 {
          let reply = try JSONDecoder().decode(UploadReply.self, from: Data(response.body))
          guard reply.verdicts.contains(where: { $0.verdict == .pending }) else { return }
          response = HTTPProblem(status: 503, type: "store", title: "The store does not answer").response
        }
        if response.status == 503 { response.headers["Retry-After"] = "60" }
      })),
    RightVariant(
      name: "each verdict of an account has a reason",
      about: ["claimed-order-told", "upload-granted"],
      hooks: BrokenHooks(verdicts: { _, reply, _, _ in
        for index in reply.verdicts.indices where reply.verdicts[index].owner == .yours {
          reply.verdicts[index].reason = reply.verdicts[index].reason ?? "credited to the account that asks"
        }
      })),
  ]

  /// Every second list of entitlements lacks one that ends in ten minutes.
  private static var endingSubscriptions: BrokenHooks {
    let isListed = Locked(false)
    return BrokenHooks(answers: { response, call, mock in
      guard call.request.path == "/v1/entitlements",
        isListed.withLock({
          $0.toggle(); return $0
        })
      else { return }
      let end = Timestamp.wallClock().adding(milliseconds: 600_000).milliseconds
      let ending = mock.store.products.values.filter { $0.kind == .autoRenewable }.map {
        product -> JSONValue in
        [
          "productID": .string(product.id), "quantity": 1, "expiresAt": .integer(end),
          "sandbox": false,
        ]
      }
      try changeJSON(of: &response, to: call) { json in
        with(json, "entitlements", .array((json["entitlements"]?.array ?? []) + ending))
      }
    })
  }

  private static let cursor = "a+b&c=%2F "
  private static let mark = "n°1+&=#"

  private static func with(_ json: JSONValue, _ name: String, _ value: JSONValue) -> JSONValue {
    var members = json.object ?? [:]
    members[name] = value
    return .object(members)
  }

  private static func changingAnswers(_ change: @escaping @Sendable (JSONValue) -> JSONValue) -> BrokenHooks {
    BrokenHooks(answers: { response, call, _ in
      try changeJSON(of: &response, to: call) { json in inAll(json, change) }
    })
  }

  /// Changes the JSON of a successful answer.
  private static func changeJSON(
    of response: inout HTTPResponse, to call: Route.Call, _ change: (JSONValue) -> JSONValue
  ) throws {
    guard response.status < 300, !response.body.isEmpty else { return }
    response.body = Array(change(try JSONValue(json: Data(response.body))).data)
  }

  /// Changes each object of a value.
  private static func inAll(_ json: JSONValue, _ change: (JSONValue) -> JSONValue) -> JSONValue {
    switch json {
    case .object(let members): change(.object(members.mapValues { inAll($0, change) }))
    case .array(let items): .array(items.map { inAll($0, change) })
    default: json
    }
  }

  private static func nulled(_ json: JSONValue) -> JSONValue {
    let names: [String]
    if json["verdict"] != nil {
      names = [
        "orderNumber", "reason", "retryAfter", "storeStatus", "owner", "refundedShare", "refundedUnits",
      ]
    } else if json["orders"] != nil {
      names = ["next"]
    } else if json["quantity"] != nil {
      names = ["expiresAt"]
    } else {
      return json
    }
    return names.reduce(json) { $0[$1] == nil ? with($0, $1, .null) : $0 }
  }

  private static func widened(_ json: JSONValue) -> JSONValue {
    with(json, "ofALaterVersion", ["a": [1, .null, "b"]])
  }
}

import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  /// Bugs in the types and times of answers.
  static let answers: [BrokenBackend] = [
    BrokenBackend(
      "expires-as-text", "the end of an order is a text",
      hooks: changingOrders { order in order["expiresAt"] = "2099-12-31T00:00:00Z" }),
    BrokenBackend(
      "listed-without-time", "orders in a list have no createdAt",
      hooks: changingJSON("GET", "/v1/orders") { json in
        json["orders"] = json["orders"]?.array.map { orders in
          .array(orders.map { ConformanceLab.with($0, "createdAt", .null) })
        }
      }),
    BrokenBackend(
      "status-as-text", "the store's status in a verdict is a text",
      hooks: changingVerdicts { $0["storeStatus"] = "0" }),
    BrokenBackend(
      "place-as-number", "the environment of an entitlement is a number",
      hooks: changingEntitlements { $0["environment"] = 0 }),
    BrokenBackend(
      "problem-status", "the status in a problem document is always 400",
      hooks: BrokenHooks(answers: { response, _, _ in
        guard response.status >= 400, response.headers["Content-Type"] == "application/problem+json" else {
          return
        }
        let problem = try JSONValue(json: Data(response.body))
        response.body = Array(ConformanceLab.with(problem, "status", 400).data)
      })),
    BrokenBackend(
      "ends-in-seconds", "the end of a subscription is in seconds, with a fraction",
      hooks: changingEntitlements { item in
        guard case .integer(let end)? = item["expiresAt"] else { return }
        item["expiresAt"] = .number("\(Double(end) / 1_000)")
      }),
    BrokenBackend(
      "all-in-sandbox", "each entitlement is called one of the sandbox",
      hooks: changingEntitlements { ($0["environment"], $0["sandbox"]) = ("Sandbox", true) }),
    BrokenBackend(
      "retry-in-milliseconds", "a retryAfter is in milliseconds",
      hooks: BrokenHooks(verdicts: { _, reply, _, _ in
        for index in reply.verdicts.indices {
          reply.verdicts[index].retryAfter = reply.verdicts[index].retryAfter.map { $0 * 1_000 }
        }
      })),
  ]

  /// Bugs in how texts and words of a request are read.
  static let texts: [BrokenBackend] = [
    refusingUploads("nulls-refused", "a member that is null is refused") { body in
      (body["claims"]?.array ?? []).contains { $0["evidence"] == .null }
    },
    refusingUploads("null-order-refused", "a claim whose orderNumber is null is refused") { body in
      (body["claims"]?.array ?? []).contains { $0["orderNumber"] == .null }
    },
    refusingUploads("null-proofs-refused", "proofs that are null are refused") { $0["proofs"] == .null },
    refusingUploads("device-case", "a device's name has to be in capitals") { body in
      body["device"]?.string.map { $0 != $0.uppercased() } ?? false
    },
    refusingCredentials("credential-case", "a device's name in a credential has to be in capitals") {
      header in
      let name = header.hasPrefix("Device ") ? header.dropFirst(7).prefix { $0 != ":" } : ""
      return name != name.uppercased()
    },
    BrokenBackend(
      "adoption-case", "an adoption has to name its device in capitals",
      hooks: BrokenHooks(before: { _, call in
        guard isCall(call, "POST", "/v1/adoptions"), let name = json(of: call)?["device"]?.string,
          name != name.uppercased()
        else { return nil }
        throw HTTPProblem.invalid("device: not the one of the Authorization header")
      })),
    refusingCredentials("scheme-case", "the scheme of a credential has to be written Bearer") { header in
      header.lowercased().hasPrefix("bearer ") && !header.hasPrefix("Bearer ")
    },
    BrokenBackend(
      "any-scheme", "a token is taken under any scheme",
      hooks: BrokenHooks(before: { _, call in
        let words = (call.request.headers["Authorization"] ?? "").split(separator: " ")
        if words.count == 2, words[0].lowercased() != "device" {
          call.request.headers["Authorization"] = "Bearer " + words[1]
        }
        return nil
      })),
    BrokenBackend(
      "devices-are-guests", "a device's credential counts as that of an account",
      hooks: BrokenHooks(before: { _, call in
        guard !call.request.path.hasPrefix("/v1/receipts"), !call.request.path.hasPrefix("/v1/adoptions"),
          call.request.headers["Authorization"]?.hasPrefix("Device ") == true
        else { return nil }
        call.request.headers["Authorization"] = "Bearer token-guest"
        return nil
      })),
    changingRefusals("forbidden-tells", "the refusal of another account's order names its token") {
      problem, order in
      problem["detail"] = .string("the order of the token \(order.accountToken.uuidString)")
    },
    changingRefusals("forbidden-auth", "the refusal of another account's order is of the type auth") {
      problem, _ in problem["type"] = "auth"
    },
    refusingUploads("odd-kinds-refused", "an upload with a proof of an unknown kind is refused") { body in
      (body["proofs"]?.array ?? []).contains {
        $0["kind"]?.string?.hasPrefix("a") == true && $0["kind"] != "appReceipt"
      }
    },
    refusingUploads("unused-proofs-refused", "an upload with a proof that no claim names is refused") {
      body in
      let used = Set((body["claims"]?.array ?? []).compactMap { $0["proof"] })
      return (body["proofs"]?.array ?? []).indices.contains { !used.contains(.integer(Int64($0))) }
    },
    refusingUploads("match-words-refused", "a claim with an unknown match is refused") { body in
      (body["claims"]?.array ?? []).contains { $0["match"]?.string?.hasPrefix("aM") == true }
    },
    refusingUploads("place-words-refused", "a claim with an unknown environment is refused") { body in
      (body["claims"]?.array ?? []).contains { $0["environment"]?.string?.hasPrefix("AP") == true }
    },
    rejectingClaims("claim-times-believed", "a claim of before 1980 is rejected") {
      $0.purchasedAt.milliseconds < 315_532_800_000
    },
    rejectingClaims("unverified-rejected", "what a device could not verify is rejected") {
      $0.unverified == true
    },
  ]

  /// Bugs by which a claim is taken that lacks something.
  static let badClaims: [BrokenBackend] = ClaimDefect.all.map { defect in
    BrokenBackend(
      "takes-" + defect.word, "a claim \(defect.what) is pending, and not refused",
      hooks: BrokenHooks(before: { mock, call in
        guard isCall(call, "POST", MockState.uploadPath), let claims = json(of: call)?["claims"]?.array,
          claims.contains(where: { $0[defect.member] == defect.value && $0["orderNumber"] == nil })
        else { return nil }
        return try JSONBody.response(
          UploadReply(ledgerEpoch: try mock.backend.model().ledgerEpoch, verdicts: []))
      }))
  }

  // MARK: Requests

  /// Refuses uploads with such a body.
  private static func refusingUploads(
    _ name: String, _ summary: String, _ isRefused: @escaping @Sendable (JSONValue) -> Bool
  ) -> BrokenBackend {
    BrokenBackend(
      name, summary,
      hooks: BrokenHooks(before: { _, call in
        guard isCall(call, "POST", MockState.uploadPath), let body = json(of: call), isRefused(body) else {
          return nil
        }
        throw HTTPProblem.malformed("the body")
      }))
  }

  /// Refuses requests with such a credential.
  private static func refusingCredentials(
    _ name: String, _ summary: String, _ isRefused: @escaping @Sendable (String) -> Bool
  ) -> BrokenBackend {
    BrokenBackend(
      name, summary,
      hooks: BrokenHooks(before: { _, call in
        guard let header = call.request.headers["Authorization"], isRefused(header) else { return nil }
        throw HTTPProblem(status: 401, type: "auth", title: "Credentials needed")
      }))
  }

  private static func rejectingClaims(
    _ name: String, _ summary: String, _ isRejected: @escaping @Sendable (Claim) -> Bool
  ) -> BrokenBackend {
    BrokenBackend(
      name, summary,
      hooks: BrokenHooks(before: { mock, call in
        guard let upload = call.request.upload, upload.claims.contains(where: isRejected) else { return nil }
        return try all(.rejected, of: upload, mock)
      }))
  }

  // MARK: Answers

  /// Changes the JSON of the successful answers of a route.
  private static func changingJSON(
    _ method: String, _ path: String, _ change: @escaping @Sendable (inout [String: JSONValue]) -> Void
  ) -> BrokenHooks {
    BrokenHooks(answers: { response, call, _ in
      guard isCall(call, method, path), response.status == 200,
        var json = try JSONValue(json: Data(response.body)).object
      else { return }
      change(&json)
      response.body = Array(JSONValue.object(json).data)
    })
  }

  private static func changingVerdicts(
    _ change: @escaping @Sendable (inout [String: JSONValue]) -> Void
  ) -> BrokenHooks {
    changingJSON("POST", MockState.uploadPath) { changeItems(of: "verdicts", in: &$0, change) }
  }

  private static func changingEntitlements(
    _ change: @escaping @Sendable (inout [String: JSONValue]) -> Void
  ) -> BrokenHooks {
    changingJSON("GET", "/v1/entitlements") { changeItems(of: "entitlements", in: &$0, change) }
  }

  private static func changeItems(
    of list: String, in json: inout [String: JSONValue],
    _ change: (inout [String: JSONValue]) -> Void
  ) {
    json[list] = json[list]?.array.map { items in
      .array(
        items.map { item in
          var members = item.object ?? [:]
          change(&members)
          return .object(members)
        })
    }
  }

  /// Changes what another account learns about an order.
  private static func changingRefusals(
    _ name: String, _ summary: String,
    _ change: @escaping @Sendable (inout [String: JSONValue], BackendOrder) -> Void
  ) -> BrokenBackend {
    BrokenBackend(
      name, summary,
      hooks: BrokenHooks(answers: { response, call, mock in
        guard response.status == 403, call.request.path.hasPrefix("/v1/orders/"),
          let order = try mock.backend.model().order(number: call.parameter),
          var problem = try JSONValue(json: Data(response.body)).object
        else { return }
        change(&problem, order)
        response.body = Array(JSONValue.object(problem).data)
      }))
  }
}

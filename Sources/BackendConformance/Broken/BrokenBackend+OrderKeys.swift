import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  private static let key = "Idempotency-Key"

  /// Further bugs of keys, and of what an order may be for.
  static let orderKeys: [BrokenBackend] = [
    BrokenBackend(
      "key-without-product", "a key returns its order, whatever product is ordered now",
      hooks: BrokenHooks(before: { mock, call in
        guard isCall(call, "POST", "/v1/orders"), let given = call.request.headers[key],
          let known = try mock.backend.model().order(
            account: try mock.credentials.account(of: call.request), idempotencyKey: given),
          json(of: call)?["quantity"] == .integer(Int64(known.quantity))
        else { return nil }
        return try JSONBody.response(known.document(at: call.now))
      })),
    BrokenBackend(
      "key-201", "a repeated request for an order is answered 201",
      hooks: BrokenHooks(answers: { response, call, _ in
        if isCall(call, "POST", "/v1/orders"), response.status == 200 { response.status = 201 }
      })),
    BrokenBackend(
      "key-until-paid", "the key of a paid order makes a new one",
      hooks: BrokenHooks(before: { mock, call in
        guard isCall(call, "POST", "/v1/orders"), let given = call.request.headers[key] else { return nil }
        let account = try mock.credentials.account(of: call.request)
        let known = try mock.backend.model().order(account: account, idempotencyKey: given)
        if known?.fulfilledBy != nil { call.request.headers[key] = "again " + given }
        return nil
      })),
    BrokenBackend(
      "key-cut", "only the first 64 characters of a key count", hooks: changingKey { String($0.prefix(64)) }),
    BrokenBackend(
      "key-caseless", "keys are compared without their case", hooks: changingKey { $0.lowercased() }),
    BrokenBackend(
      "key-of-refusal", "a key repeats the refusal of its first order",
      hooks: BrokenHooks(
        before: { mock, call in
          guard isCall(call, "POST", "/v1/orders"), let given = call.request.headers[key],
            mock.brokenMemory.counts["refused " + given] != nil
          else { return nil }
          throw HTTPProblem.invalid("productID: no such product is sold")
        },
        answers: { response, call, mock in
          guard isCall(call, "POST", "/v1/orders"), response.status == 422,
            let given = call.request.headers[key]
          else { return }
          mock.brokenMemory.counts["refused " + given] = 1
        })),
    BrokenBackend(
      "any-quantity", "an order for less than one is made",
      hooks: changingBody("POST") { body in
        if case .integer(let quantity)? = body["quantity"], quantity < 1 { body["quantity"] = 1 }
      }),
    BrokenBackend(
      "text-quantity", "a quantity as text is taken for a number",
      hooks: changingBody("POST") { body in
        if let text = body["quantity"]?.string, let quantity = Int64(text) {
          body["quantity"] = .integer(quantity)
        }
      }),
    BrokenBackend(
      "blank-product", "an order without a product is made",
      hooks: BrokenHooks(before: { mock, call in
        guard isCall(call, "POST", "/v1/orders"), var body = json(of: call)?.object,
          body["productID"]?.string?.allSatisfy(\.isWhitespace) == true,
          let sold = mock.store.products.keys.min()
        else { return nil }
        body["productID"] = .string(sold)
        call.request.body = Array(JSONValue.object(body).data)
        return nil
      })),
    BrokenBackend(
      "created-in-seconds", "createdAt is in seconds",
      hooks: changingOrders { order in
        if case .integer(let made)? = order["createdAt"] { order["createdAt"] = .integer(made / 1_000) }
      }),
    BrokenBackend(
      "expires-in-seconds", "expiresAt of an order is in seconds",
      hooks: changingOrders { order in
        if case .integer(let made)? = order["createdAt"] {
          order["expiresAt"] = .integer(made / 1_000 + 86_400)
        }
      }),
  ]

  /// Bugs of orders that a device made.
  static let registrations: [BrokenBackend] = [
    BrokenBackend(
      "any-number", "a device's order may have any number",
      hooks: registering { mock, order, account in
        guard !DeviceOrder.isNumber(order.number), try mock.backend.model().order(number: order.number) == nil
        else { return nil }
        return made(order, by: account)
      }),
    BrokenBackend(
      "path-ignored", "the number in the path of a registration is ignored",
      hooks: BrokenHooks(before: { _, call in
        guard call.request.method == "PUT", let number = json(of: call)?["number"]?.string else { return nil }
        call.parameter = number
        return nil
      })),
    BrokenBackend(
      "own-token-taken", "a device's order may have the token of another order of the account",
      hooks: registering { mock, order, account in
        let others = try mock.backend.model().orders(accountToken: order.accountToken)
        guard let other = others.first, other.account == account, other.number != order.number,
          !other.number.hasPrefix("device-")
        else { return nil }
        return made(order, by: account)
      }),
    BrokenBackend(
      "token-taken", "a device's order may take the token of another account's order",
      hooks: registering { mock, order, account in
        let others = try mock.backend.model().orders(accountToken: order.accountToken)
        guard var other = others.first, other.account != account else { return nil }
        other.account = account
        return other
      }),
    BrokenBackend(
      "device-token-taken", "two orders of devices may have one token",
      hooks: registering { mock, order, account in
        let others = try mock.backend.model().orders(accountToken: order.accountToken)
        guard let other = others.first, other.number != order.number, other.number.hasPrefix("device-") else {
          return nil
        }
        return made(order, by: account)
      }),
    BrokenBackend(
      "conflict-422", "other contents under a registered number are a 422",
      hooks: BrokenHooks(answers: { response, call, _ in
        if call.request.method == "PUT", response.status == 409 {
          response = HTTPProblem.invalid("number: taken").response
        }
      })),
    BrokenBackend(
      "registers-once", "a repeated registration does not move the order on",
      hooks: BrokenHooks(before: { mock, call in
        guard call.request.method == "PUT",
          let known = try mock.backend.model().order(number: call.parameter),
          var body = json(of: call)?.object
        else { return nil }
        body["state"] = .string(known.state.rawValue)
        call.request.body = Array(JSONValue.object(body).data)
        return nil
      })),
    BrokenBackend(
      "registers-open", "a repeated registration opens a cancelled order again",
      hooks: registering { mock, order, account in
        guard var known = try mock.backend.model().order(number: order.number), known.account == account,
          known.state == .cancelled, order.state == .open
        else { return nil }
        known.state = .open
        return known
      }),
    BrokenBackend(
      "registers-delivered", "a late registration cancels a delivered order",
      hooks: registering { mock, order, account in
        guard var known = try mock.backend.model().order(number: order.number), known.account == account,
          known.fulfilledBy != nil, order.state == .cancelled
        else { return nil }
        known.state = .cancelled
        return known
      }),
    BrokenBackend(
      "registers-unsold", "a device's order is not checked",
      hooks: registering { mock, order, account in
        guard try mock.backend.model().order(number: order.number) == nil,
          order.quantity < 1 || mock.store.products[order.productID] == nil
        else { return nil }
        return made(order, by: account)
      }),
  ]

  // MARK: Requests and answers

  private static func changingKey(_ change: @escaping @Sendable (String) -> String) -> BrokenHooks {
    BrokenHooks(before: { _, call in
      if isCall(call, "POST", "/v1/orders") {
        call.request.headers[key] = call.request.headers[key].map(change)
      }
      return nil
    })
  }

  /// Changes the body of a request about orders.
  private static func changingBody(
    _ method: String, _ change: @escaping @Sendable (inout [String: JSONValue]) -> Void
  ) -> BrokenHooks {
    BrokenHooks(before: { _, call in
      guard call.request.method == method, call.request.path.hasPrefix("/v1/orders"),
        var body = json(of: call)?.object
      else { return nil }
      change(&body)
      call.request.body = Array(JSONValue.object(body).data)
      return nil
    })
  }

  /// Changes the order in each answer about one order.
  static func changingOrders(
    _ change: @escaping @Sendable (inout [String: JSONValue]) -> Void
  ) -> BrokenHooks {
    BrokenHooks(answers: { response, call, _ in
      guard call.request.path.hasPrefix("/v1/orders"), response.status < 300,
        var order = try JSONValue(json: Data(response.body)).object, order["number"] != nil
      else { return }
      change(&order)
      response.body = Array(JSONValue.object(order).data)
    })
  }

  /// Answers a registration with this order, and keeps it.
  private static func registering(
    _ order: @escaping @Sendable (MockState, DeviceOrder, String) throws -> BackendOrder?
  ) -> BrokenHooks {
    BrokenHooks(before: { mock, call in
      guard call.request.method == "PUT", call.request.path.hasPrefix("/v1/orders/") else { return nil }
      let account = try mock.credentials.account(of: call.request)
      guard let made = try order(mock, try JSONBody.decode(DeviceOrder.self, from: call.request), account)
      else { return nil }
      try write(mock) { _ in [.order(made)] }
      return try JSONBody.response(made.document(at: call.now))
    })
  }

  private static func made(_ order: DeviceOrder, by account: String) -> BackendOrder {
    BackendOrder(order, of: account, createdAt: order.createdAt)
  }
}

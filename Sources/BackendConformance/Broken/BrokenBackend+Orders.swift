import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  private static let key = "Idempotency-Key"

  private static func isNewOrder(_ call: Route.Call) -> Bool { isCall(call, "POST", "/v1/orders") }

  /// Bugs of orders and of idempotency keys.
  static let orders: [BrokenBackend] = [
    BrokenBackend(
      "key-ignored", "idempotency keys are ignored",
      hooks: BrokenHooks(before: { mock, call in
        if isNewOrder(call), let given = call.request.headers[key] {
          // Not a count, which begins again at a restart.
          call.request.headers[key] = given + " \(UUID().uuidString)"
        }
        return nil
      })),
    BrokenBackend(
      "key-shared", "an idempotency key counts for all accounts",
      hooks: BrokenHooks(before: { mock, call in
        guard isNewOrder(call), let given = call.request.headers[key] else { return nil }
        let account = try mock.credentials.account(of: call.request)
        let known = try mock.backend.model().orders.first {
          $0.idempotencyKey == given && $0.account != account
        }
        guard let known else { return nil }
        return try JSONBody.response(known.document(at: call.now))
      })),
    BrokenBackend(
      "key-conflict", "a used key returns its order, whatever is ordered now",
      hooks: BrokenHooks(before: { mock, call in
        guard isNewOrder(call), let given = call.request.headers[key] else { return nil }
        let account = try mock.credentials.account(of: call.request)
        guard let known = try mock.backend.model().order(account: account, idempotencyKey: given) else {
          return nil
        }
        return try JSONBody.response(known.document(at: call.now))
      })),
    BrokenBackend(
      "key-not-needed", "an order without an idempotency key is made",
      hooks: BrokenHooks(before: { mock, call in
        if isNewOrder(call), call.request.headers[key] == nil {
          call.request.headers[key] = "none \(mock.brokenMemory.next())"
        }
        return nil
      })),
    BrokenBackend(
      "order-waiting", "a new order has a state that is not in the document",
      hooks: BrokenHooks(answers: { response, call, _ in
        try changeOrder(in: &response, of: call) { if $0.state == .open { $0.state.rawValue = "waiting" } }
      })),
    BrokenBackend(
      "order-one-unit", "an order is read with the quantity 1",
      hooks: BrokenHooks(answers: { response, call, _ in
        guard call.request.method == "GET" else { return }
        try changeOrder(in: &response, of: call) { $0.quantity = 1 }
      })),
    BrokenBackend(
      "one-token", "the orders of all accounts have one token",
      hooks: BrokenHooks(answers: { response, call, mock in
        let model = try mock.backend.model()
        try changeOrder(in: &response, of: call) { order in
          order.accountToken = model.orders.first?.accountToken ?? order.accountToken
        }
      })),
    BrokenBackend(
      "device-orders-rejected", "payments of orders that a device made are rejected",
      hooks: BrokenHooks(before: { mock, call in
        guard let upload = call.request.upload,
          upload.claims.contains(where: { $0.orderNumber?.hasPrefix("device-") == true })
        else { return nil }
        return try all(.rejected, of: upload, mock)
      })),
    BrokenBackend(
      "any-product", "orders for products that are not sold are made",
      hooks: BrokenHooks(before: { mock, call in
        guard isNewOrder(call), let body = json(of: call), let product = body["productID"]?.string,
          mock.store.products[product] == nil, let sold = mock.store.products.keys.min()
        else { return nil }
        call.request.body = Array(ConformanceLab.with(body, "productID", .string(sold)).data)
        return nil
      })),
    BrokenBackend(
      "strict-members", "members that it does not know are refused",
      hooks: BrokenHooks(before: { _, call in
        guard
          json(of: call)?.object?.keys.contains(where: { $0.hasPrefix("from") || $0.hasPrefix("of") }) == true
        else { return nil }
        throw HTTPProblem.malformed("an unknown member")
      })),
    BrokenBackend(
      "limit-ignored", "a page of orders has more of them than asked for",
      hooks: BrokenHooks(before: { _, call in
        if isCall(call, "GET", "/v1/orders") { call.request.query["limit"] = nil }
        return nil
      })),
    BrokenBackend(
      "orders-unlisted", "open orders are not listed",
      hooks: BrokenHooks(before: { _, call in
        guard isCall(call, "GET", "/v1/orders"), call.request.query["state"] != nil,
          call.request.query["limit"] == nil
        else { return nil }
        return try JSONBody.response(OrderListDocument(orders: [], next: nil))
      })),
    BrokenBackend(
      "unknown-order-500", "an unknown order is answered 500",
      hooks: BrokenHooks(answers: { response, call, _ in
        if call.request.path.hasPrefix("/v1/orders/"), response.status == 404 { response.status = 500 }
      })),
    BrokenBackend(
      "cancel-forgotten", "a cancellation is answered, and not written",
      hooks: BrokenHooks(before: { mock, call in
        guard call.request.method == "POST", call.request.path.hasSuffix("/cancel") else { return nil }
        var order = try MockState.readOrder(&mock, call)
        order.state = .cancelled
        return try JSONBody.response(order)
      })),
    BrokenBackend(
      "cancelled-unpayable", "a payment for a cancelled order is rejected",
      hooks: BrokenHooks(before: { mock, call in
        guard let upload = call.request.upload else { return nil }
        let model = try mock.backend.model()
        let isCancelled = upload.claims.contains { claim in
          claim.orderNumber.flatMap { model.order(number: $0) }?.state == .cancelled
        }
        return isCancelled ? try all(.rejected, of: upload, mock) : nil
      })),
    BrokenBackend(
      "cancels-delivered", "a delivered order can be cancelled",
      hooks: BrokenHooks(before: { mock, call in
        guard call.request.method == "POST", call.request.path.hasSuffix("/cancel") else { return nil }
        _ = try MockState.readOrder(&mock, call)
        try write(mock) { model in
          guard var order = model.order(number: call.parameter), order.fulfilledBy != nil else { return [] }
          order.state = .cancelled
          return [.order(order)]
        }
        return nil
      })),
    BrokenBackend(
      "registers-changes", "a registered order takes other contents",
      hooks: BrokenHooks(before: { mock, call in
        guard call.request.method == "PUT", case .integer(let quantity)? = json(of: call)?["quantity"] else {
          return nil
        }
        try write(mock) { model in
          guard var order = model.order(number: call.parameter) else { return [] }
          order.quantity = Int(quantity)
          return [.order(order)]
        }
        return nil
      })),
  ]

  /// Bugs by which other accounts see and do too much.
  static let strangers: [BrokenBackend] = [
    BrokenBackend(
      "strangers-read", "every account can read every order",
      hooks: BrokenHooks(before: { mock, call in
        guard call.request.method == "GET", call.request.path.hasPrefix("/v1/orders/") else { return nil }
        return try order(call, mock)
      })),
    BrokenBackend(
      "strangers-list", "the list has the orders of all accounts",
      hooks: BrokenHooks(before: { mock, call in
        guard isCall(call, "GET", "/v1/orders"), call.request.query["limit"] == nil else { return nil }
        _ = try mock.credentials.account(of: call.request)
        let newest = try mock.backend.model().orders.suffix(50).map { $0.document(at: call.now) }
        return try JSONBody.response(OrderListDocument(orders: newest, next: nil))
      })),
    BrokenBackend(
      "strangers-cancel", "every account can cancel every order",
      hooks: BrokenHooks(before: { mock, call in
        guard call.request.method == "POST", call.request.path.hasPrefix("/v1/orders/") else { return nil }
        _ = try mock.credentials.account(of: call.request)
        let isCancel = call.request.path.hasSuffix("/cancel")
        try mock.backend.change { $0.move(order: call.parameter, on: isCancel ? .cancelled : .deferred) }
        return try order(call, mock)
      })),
    BrokenBackend(
      "strangers-register", "an account can register an order of another one",
      hooks: BrokenHooks(before: { mock, call in
        guard call.request.method == "PUT", let body = json(of: call) else { return nil }
        let account = try mock.credentials.account(of: call.request)
        call.request.body = Array(ConformanceLab.with(body, "account", .string(account)).data)
        return nil
      })),
    BrokenBackend(
      "strangers-entitled", "the entitlements of all accounts are in one list",
      hooks: BrokenHooks(before: { mock, call in
        guard isCall(call, "GET", "/v1/entitlements") else { return nil }
        let account = try mock.credentials.account(of: call.request)
        let model = try mock.backend.model()
        let others = Set(model.credits.compactMap { model.owner(of: $0).account }).union([account])
        return try JSONBody.response(
          EntitlementList(
            entitlements: others.sorted().flatMap { model.holdings(account: $0, now: call.now) }))
      })),
    BrokenBackend(
      "no-credentials", "requests without credentials are answered",
      hooks: BrokenHooks(before: { _, call in
        if call.request.headers["Authorization"] == nil, call.request.path != MockState.notificationPath {
          call.request.headers["Authorization"] = "Bearer token-guest"
        }
        return nil
      })),
    BrokenBackend(
      "any-token", "every bearer token is valid",
      hooks: BrokenHooks(before: { _, call in
        if let header = call.request.headers["Authorization"], header.hasPrefix("Bearer "),
          !header.hasPrefix("Bearer token-")
        {
          call.request.headers["Authorization"] = "Bearer token-guest"
        }
        return nil
      })),
  ]

  /// Changes the order in an answer about one.
  private static func changeOrder(
    in response: inout HTTPResponse, of call: Route.Call, _ change: (inout OrderDocument) -> Void
  ) throws {
    let isOne = isNewOrder(call) || call.request.path.hasPrefix("/v1/orders/")
    guard isOne, response.status < 300 else { return }
    var order = try JSONDecoder().decode(OrderDocument.self, from: Data(response.body))
    change(&order)
    response.body = Array(try JSONEncoder().encode(order))
  }

  /// The order of a call, as its owner reads it.
  private static func order(_ call: Route.Call, _ mock: MockState) throws -> HTTPResponse? {
    _ = try mock.credentials.account(of: call.request)
    return try mock.backend.model().order(number: call.parameter).map {
      try JSONBody.response($0.document(at: call.now))
    }
  }

  /// The body as JSON; nil if it is none.
  static func json(of call: Route.Call) -> JSONValue? {
    do throws(ReceiptDecodingError) {
      return try JSONValue(json: Data(call.request.body))
    } catch {
      return nil
    }
  }
}

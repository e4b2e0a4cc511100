import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
package import PurchaseSync

/// The wire protocol, version 1. Each handler commits before it returns its answer.
extension MockState {
  static func createOrder(_ mock: inout MockState, _ call: Route.Call) throws -> HTTPResponse {
    let account = try mock.credentials.account(of: call.request)
    guard let key = try call.request.only("Idempotency-Key"), !key.isEmpty else {
      throw HTTPProblem.malformed("the Idempotency-Key header is missing")
    }
    try IDLimits.check(key, IDLimits.name, "the Idempotency-Key header")
    let order = try JSONBody.decode(OrderRequest.self, from: call.request)
    try IDLimits.check(order.productID, IDLimits.name, "productID")
    guard mock.store.products[order.productID] != nil else {
      throw HTTPProblem.invalid("productID: no such product is sold")
    }
    let expiresAt = mock.orderLifetime.map { call.now.adding(milliseconds: $0) }
    let outcome = try mock.backend.perform { model in
      let outcome = try model.createOrder(
        order, account: account, idempotencyKey: key, now: call.now, expiresAt: expiresAt)
      return (outcome, outcome.writes)
    }
    return try JSONBody.response(outcome.order.document(at: call.now), status: outcome.isNew ? 201 : 200)
  }

  /// At most so many orders are in a page.
  private static var ordersOfPage: Int { 100 }

  static func listOrders(_ mock: inout MockState, _ call: Route.Call) throws -> OrderListDocument {
    let account = try mock.credentials.account(of: call.request)
    let query = call.request.query
    let limit = query["limit"].flatMap { Int($0) } ?? ordersOfPage
    guard limit > 0 else { throw HTTPProblem.invalid("limit: it has to be 1 or more") }
    let page = try mock.backend.model().orderPage(
      account: account, state: query["state"].map(OrderState.init(rawValue:)), after: query["after"],
      limit: min(limit, ordersOfPage), at: call.now)
    return OrderListDocument(orders: page.orders.map { $0.document(at: call.now) }, next: page.next)
  }

  static func registerOrder(_ mock: inout MockState, _ call: Route.Call) throws -> HTTPResponse {
    let account = try mock.credentials.account(of: call.request)
    let order = try JSONBody.decode(DeviceOrder.self, from: call.request)
    try IDLimits.check(order.number, IDLimits.name, "number")
    try IDLimits.check(order.productID, IDLimits.name, "productID")
    guard order.number == call.parameter else {
      throw HTTPProblem.invalid("number: not the one of the path")
    }
    guard mock.store.products[order.productID] != nil else {
      throw HTTPProblem.invalid("productID: no such product is sold")
    }
    let outcome = try mock.backend.perform { model in
      let outcome = try model.register(order, from: account, now: call.now)
      return (outcome, outcome.writes)
    }
    return try JSONBody.response(outcome.order.document(at: call.now), status: outcome.isNew ? 201 : 200)
  }

  static func cancelOrder(_ mock: inout MockState, _ call: Route.Call) throws -> OrderDocument {
    try move(&mock, call, on: .cancelled)
  }

  static func deferOrder(_ mock: inout MockState, _ call: Route.Call) throws -> OrderDocument {
    try move(&mock, call, on: .deferred)
  }

  /// Answers with the order as it is then: a fulfilled one does not change.
  private static func move(
    _ mock: inout MockState, _ call: Route.Call, on state: OrderState
  ) throws -> OrderDocument {
    let order = try readOrder(&mock, call)
    try mock.backend.change { $0.move(order: order.number, on: state) }
    return try readOrder(&mock, call)
  }

  package static func readOrder(_ mock: inout MockState, _ call: Route.Call) throws -> OrderDocument {
    let account = try mock.credentials.account(of: call.request)
    guard let order = try mock.backend.model().order(number: call.parameter) else {
      throw HTTPProblem.notFound("there is no such order")
    }
    guard order.account == account else {
      // Not of type `auth`: the credentials are valid, so another sign-in would not help.
      throw HTTPProblem(status: 403, type: "forbidden", title: "The order is another account's")
    }
    return order.document(at: call.now)
  }

  /// Takes both forms of an upload: one with claims, and one with only a receipt (R3.2).
  static func upload(_ mock: inout MockState, _ call: Route.Call) throws -> UploadReply {
    let sender: Credentials.Sender
    do {
      sender = try mock.credentials.sender(of: call.request)
    } catch {
      mock.countSwallowedUpload(call.request)
      throw error
    }
    let body = try JSONBody.decode(UploadBody.self, from: call.request)
    try body.checkLengths()
    mock.count(body.claims)
    try body.check(sender.uploader)
    let signedIn = try mock.credentials.signedInIfAny(of: call.request)
    let device = mock.credentials.device(of: call.request)
    let reply = try mock.backend.perform { model in
      let admission = try model.admit(sender) + model.note(device)
      let judgement = body.judged(by: &model, from: sender.uploader, signedIn: signedIn, now: call.now) {
        mock.ask($0, answers: call.answers, now: call.now)
      }
      let reply = UploadReply(ledgerEpoch: model.ledgerEpoch, verdicts: judgement.verdicts)
      return (reply, admission + judgement.writes)
    }
    try mock.finishGranted(body.claims)
    return reply
  }

  static func adoptDevice(_ mock: inout MockState, _ call: Route.Call) throws -> AdoptionDocument {
    let account = try mock.credentials.signedIn(of: call.request)
    let sender = try mock.credentials.sender(of: call.request)
    let adoption = try JSONBody.decode(AdoptionDocument.self, from: call.request)
    guard sender.uploader == .device(adoption.device) else {
      throw HTTPProblem.invalid("device: not the one of the Authorization header")
    }
    try mock.backend.change { model in
      try model.admit(sender) + model.adoptDevice(adoption.device, for: account, now: call.now)
    }
    return adoption
  }

  static func entitlements(_ mock: inout MockState, _ call: Route.Call) throws -> EntitlementList {
    let account = try mock.credentials.account(of: call.request)
    return EntitlementList(
      entitlements: try mock.backend.model().holdings(account: account, now: call.now))
  }

  /// Takes a server notification of either version and any type. Version 2 is signed, and its content counts. Version 1
  /// is not signed, so the backend asks the store about the transactions in it.
  ///
  /// Answers 200 once the content is committed, 202 if there is nothing to learn, and 503 if the store did not answer:
  /// the store posts the notification again.
  static func notify(_ mock: inout MockState, _ call: Route.Call) throws -> HTTPResponse {
    let forge = mock.store.forge
    let notice = try notice(in: call.request, forge: forge, now: call.now)
    var lessons = notice.lessons
    var isUnanswered = false
    for query in notice.queries {
      let answer = mock.ask(query, answers: call.answers, now: call.now)
      switch answer.outcome {
      case .genuine, .forged, .malformed, .refused, .notFound: break
      case .doubtful, .unavailable, .unsigned, .misconfigured: isUnanswered = true
      }
      lessons.append(Lesson(proof: query.document, answer: answer))
    }
    guard !lessons.isEmpty else { return try JSONBody.response(EmptyDocument(), status: 202) }
    try mock.backend.change { $0.learn(lessons, source: .notification(notice.type), now: call.now) }
    try mock.grantTold(notice.lessons, now: call.now)
    if isUnanswered {
      throw HTTPProblem(
        status: 503, type: "store", title: "The store did not answer",
        detail: "post the notification again later")
    }
    return try JSONBody.response(EmptyDocument())
  }

  private static func notice(
    in request: HTTPRequest, forge: ReceiptForge, now: Timestamp
  ) throws -> StoreNotice {
    try JSONBody.check(request)
    do throws(StoreNotice.Refusal) {
      return try StoreNotice(
        json: Data(request.body), bundleID: forge.bundleID, isSigned: forge.verify, now: now)
    } catch {
      switch error {
      case .malformed(let detail): throw HTTPProblem.malformed(detail)
      case .untrue(let detail): throw HTTPProblem.invalid(detail)
      }
    }
  }
}

extension BackendModel {
  /// Checks the secret of a device; an account has none.
  fileprivate mutating func admit(_ sender: Credentials.Sender) throws -> [BackendWrite] {
    guard case .device(let device, let secret) = sender else { return [] }
    return try admit(device, secret: secret)
  }

  /// Binds the name of the device of an account's upload to its secret. A name that is bound to another secret changes
  /// nothing: the account's purchases do not depend on it.
  fileprivate mutating func note(_ sender: Credentials.Sender?) -> [BackendWrite] {
    guard case .device(let device, let secret)? = sender else { return [] }
    do throws(BackendModelError) { return try admit(device, secret: secret) } catch { return [] }
  }
}

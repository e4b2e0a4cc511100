import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync

/// The wire protocol, version 1. Each handler commits before it returns its answer.
extension WorldState {
  static func createOrder(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let account = try world.credentials.account(of: call.request)
    guard let key = call.request.headers["Idempotency-Key"], !key.isEmpty else {
      throw .malformed("the Idempotency-Key header is missing")
    }
    let order = try JSONBody.decode(OrderRequest.self, from: call.request)
    guard world.store.products[order.productID] != nil else {
      throw .invalid("productID: no such product is sold")
    }
    let expiresAt = world.orderLifetime.map { call.now.adding(milliseconds: $0) }
    let outcome = try world.backend.perform(failing: HTTPProblem.failed) {
      model throws(HTTPProblem) -> (BackendModel.OrderOutcome, [BackendWrite]) in
      do throws(BackendModelError) {
        let outcome = try model.createOrder(
          order, account: account, idempotencyKey: key, now: call.now, expiresAt: expiresAt)
        return (outcome, outcome.writes)
      } catch {
        throw .invalid(error.description, type: error == .idempotencyConflict ? "idempotency" : "invalid")
      }
    }
    return try JSONBody.response(outcome.order.document(at: call.now), status: outcome.isNew ? 201 : 200)
  }

  static func listOrders(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let account = try world.credentials.account(of: call.request)
    let state = call.request.query["state"].map(OrderState.init(rawValue:))
    let orders = try world.model().orders(account: account, state: state, at: call.now)
    return try JSONBody.response(OrderList(orders: orders.map { $0.document(at: call.now) }))
  }

  static func readOrder(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let account = try world.credentials.account(of: call.request)
    guard let order = try world.model().order(number: call.parameter) else {
      throw .notFound("there is no such order")
    }
    guard order.account == account else {
      // Not `auth`: the credentials are good, and asking the person to sign in again would not help.
      throw HTTPProblem(status: 403, type: "forbidden", title: "The order is another account's")
    }
    return try JSONBody.response(order.document(at: call.now))
  }

  /// Either form of an upload: claims, or only a receipt (R3.2).
  static func upload(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    try upload(&world, call, answers: call.answers)
  }

  /// The same, with what the store said already to the ``queries(of:)`` of this request.
  static func upload(
    _ world: inout WorldState, _ call: Route.Call, answers: StoreAnswers
  ) throws(HTTPProblem) -> HTTPResponse {
    let uploader: Uploader
    do throws(HTTPProblem) {
      uploader = try world.credentials.uploader(of: call.request)
    } catch {
      world.countSwallowedUpload(call.request)
      throw error
    }
    let body = try JSONBody.decode(UploadBody.self, from: call.request)
    world.count(body.claims)
    if let nonsense = nonsense(in: body, from: uploader) { throw .invalid(nonsense) }
    let reply = try world.backend.perform(failing: HTTPProblem.failed) {
      model throws(HTTPProblem) -> (UploadReply, [BackendWrite]) in
      let judgement =
        switch body {
        case .claims(let upload):
          model.judge(upload, from: uploader, now: call.now) {
            world.ask($0, answers: answers, now: call.now)
          }
        case .receipt(let upload):
          model.judge(upload, from: uploader, now: call.now) {
            world.ask($0, answers: answers, now: call.now)
          }
        }
      return (UploadReply(ledgerEpoch: model.ledgerEpoch, verdicts: judgement.verdicts), judgement.writes)
    }
    return try JSONBody.response(reply)
  }

  static func claimDevice(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let account = try world.credentials.account(of: call.request)
    let claim = try JSONBody.decode(DeviceClaimRequest.self, from: call.request)
    try world.backend.perform(failing: HTTPProblem.failed) {
      model throws(HTTPProblem) -> (Void, [BackendWrite]) in
      ((), model.claimDevice(claim.device, for: account, now: call.now))
    }
    return try JSONBody.response(EmptyDocument())
  }

  static func entitlements(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse
  {
    let account = try world.credentials.account(of: call.request)
    let held = try world.model().holdings(account: account, now: call.now)
    return try JSONBody.response(EntitlementList(entitlements: held))
  }

  func model() throws(HTTPProblem) -> BackendModel {
    do throws(BackendStoreError) {
      return try backend.model()
    } catch {
      throw .failed(error)
    }
  }

  private static func nonsense(in body: UploadBody, from uploader: Uploader) -> String? {
    switch body {
    case .claims(let upload): nonsense(in: upload, from: uploader)
    case .receipt(let upload): nonsense(in: upload, from: uploader)
    }
  }

  private static func nonsense(in upload: ReceiptUpload, from uploader: Uploader) -> String? {
    switch uploader {
    case .device(let device) where device != upload.device: "uuid: not the one of the Authorization header"
    case .device where upload.account != nil: "uid: a device has no user"
    case .account(let account) where upload.account.map { $0 != account } ?? false:
      "uid: not the one of the Authorization header"
    default: nil
    }
  }

  private static func nonsense(in upload: UploadRequest, from uploader: Uploader) -> String? {
    guard (1...100).contains(upload.claims.count) else {
      return "claims: \(upload.claims.count) of them; it has to be 1 to 100"
    }
    if case .device(let device) = uploader, device != upload.device {
      return "device: not the one of the Authorization header"
    }
    for (index, claim) in upload.claims.enumerated() {
      if claim.transactionID.isEmpty { return "claims.\(index).transactionID: blank" }
      if claim.productID.isEmpty { return "claims.\(index).productID: blank" }
      if claim.quantity < 1 { return "claims.\(index).quantity: less than 1" }
      if claim.match == .bound, claim.orderNumber == nil {
        return "claims.\(index).orderNumber: missing in a bound claim"
      }
    }
    return nil
  }
}

import Foundation
import LoopbackHTTP
import PurchaseSync

/// The mock store. It trusts its caller: in the real one, the system does the asking.
extension WorldState {
  static func products(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let products = world.store.products.values.sorted { $0.id < $1.id }
    return try JSONBody.response(ProductList(products: products))
  }

  static func pay(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let payment = try JSONBody.decode(PaymentRequest.self, from: call.request)
    let account = world.caller(account: payment.storeAccount, device: payment.device)
    let wanted = StorePayment(
      productID: payment.productID, quantity: payment.quantity ?? 1, accountToken: payment.accountToken,
      storeAccount: account ?? "", delivery: payment.delivery, launch: payment.launch)
    let purchase: StorePurchase
    do throws(StoreModelError) {
      purchase = try world.store.purchase(wanted, now: call.now)
    } catch {
      throw problem(error)
    }
    switch purchase {
    case .waits(let request): return try JSONBody.response(RequestDocument(request), status: 202)
    case .purchased(let record):
      let handover = world.store.handover(
        [record], to: record.storeAccount, launch: payment.launch, now: call.now)
      return try JSONBody.response(
        PaymentReply(
          transactionID: record.transactionID,
          signedTransaction: world.store.forge.signedTransaction(record, signedAt: call.now),
          transactions: handover.transactions, receipt: handover.receipt.map(base64)))
    }
  }

  static func unfinished(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let account = try world.caller(of: call.request)
    let listing = world.store.listing(
      storeAccount: account, launch: call.request.query["launch"], now: call.now)
    return try JSONBody.response(
      ListingReply(
        account: account, transactions: listing.transactions, receipt: listing.receipt.map(base64)))
  }

  /// Without a caller, as an omnipotent test asks; with one, only what is listed for them is finished.
  static func finish(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let target = try JSONBody.decode(FinishRequest.self, from: call.request)
    guard target.storeAccount != nil || target.device != nil else {
      return try refusing { () throws(StoreModelError) in
        try world.store.finish(transactionID: target.transactionID)
        return FinishReply(.finished)
      }
    }
    let account = world.caller(account: target.storeAccount, device: target.device)
    return try JSONBody.response(
      FinishReply(world.store.finish(transactionID: target.transactionID, as: account)))
  }

  static func receipt(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let account = try world.caller(of: call.request)
    let receipt = world.store.receipt(storeAccount: account, now: call.now)
    return try JSONBody.response(ReceiptReply(receipt: receipt.map(base64)))
  }

  static func refreshReceipt(
    _ world: inout WorldState, _ call: Route.Call
  ) throws(HTTPProblem) -> HTTPResponse {
    let caller = try JSONBody.decode(StoreCallerDocument.self, from: call.request)
    let account = world.caller(account: caller.storeAccount, device: caller.device)
    return try refusing { () throws(StoreModelError) in
      let receipt = try world.store.refreshReceipt(storeAccount: account, now: call.now)
      return ReceiptReply(receipt: receipt.map(base64))
    }
  }

  static func signIn(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let request = try JSONBody.decode(SignInRequest.self, from: call.request)
    world.store.signIn(device: request.device, storeAccount: request.storeAccount)
    return try JSONBody.response(EmptyDocument())
  }

  static func renew(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let change = try JSONBody.decode(PlanChange.self, from: call.request)
    return try refusing { () throws(StoreModelError) in
      let record =
        if let product = change.productID {
          try world.store.upgrade(transactionID: change.transactionID, to: product, now: call.now)
        } else {
          try world.store.renew(transactionID: change.transactionID, now: call.now)
        }
      return ListingReply(
        account: record.storeAccount,
        transactions: world.store.handover([record], to: record.storeAccount, now: call.now).transactions)
    }
  }

  static func refund(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let target = try JSONBody.decode(TransactionReference.self, from: call.request)
    return try refusing { () throws(StoreModelError) in
      let record = try world.store.refund(transactionID: target.transactionID, now: call.now)
      let notification = world.store.forge.signedNotification(
        type: "REFUND", identifier: "refund-" + record.transactionID, about: record, signedAt: call.now)
      return NotificationBody(signedPayload: notification)
    }
  }

  static func refusing<Reply: Encodable>(
    _ body: () throws(StoreModelError) -> Reply
  ) throws(HTTPProblem) -> HTTPResponse {
    let reply: Reply
    do throws(StoreModelError) {
      reply = try body()
    } catch {
      throw problem(error)
    }
    return try JSONBody.response(reply)
  }

  static func problem(_ error: StoreModelError) -> HTTPProblem {
    switch error {
    case .unknownTransaction, .unknownRequest: .notFound(error.description)
    case .refreshFailed:
      HTTPProblem(status: 503, type: "refresh", title: "Not refreshed", detail: error.description)
    case .paymentDeclined:
      HTTPProblem(status: 402, type: "declined", title: "Not charged", detail: error.description)
    case .waits:
      HTTPProblem(status: 409, type: "waits", title: "Not charged yet", detail: error.description)
    case .alreadySubscribed:
      HTTPProblem(status: 409, type: "subscribed", title: "Not charged again", detail: error.description)
    case .unknownProduct, .invalidQuantity, .noStoreAccount, .noSubscription, .notCharged:
      .invalid(error.description)
    }
  }

  /// The store account that asks; nil if nobody is signed in on the device.
  func caller(account: String?, device: String?) -> String? {
    account ?? device.flatMap { store.signedIn[$0] }
  }

  func caller(of request: HTTPRequest) throws(HTTPProblem) -> String? {
    let account = request.query["storeAccount"].flatMap { $0.isEmpty ? nil : $0 }
    let device = request.query["device"]
    guard account != nil || device != nil else {
      throw .malformed("the query has neither storeAccount nor device")
    }
    return caller(account: account, device: device)
  }

  private static func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
}

extension FinishReply {
  init(_ result: FinishResult) {
    switch result {
    case .finished: self.init(result: "finished")
    case .notListed: self.init(result: "notListed")
    }
  }
}

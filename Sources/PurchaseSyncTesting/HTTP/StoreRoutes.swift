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
    return try refusing { () throws(StoreModelError) in
      let record = try world.store.pay(
        product: payment.productID, quantity: payment.quantity ?? 1, accountToken: payment.accountToken,
        storeAccount: payment.storeAccount, now: call.now)
      return PaymentReply(
        transactionID: record.transactionID,
        signedTransaction: world.store.forge.signedTransaction(record, signedAt: call.now))
    }
  }

  static func unfinished(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    guard let account = call.request.query["storeAccount"], !account.isEmpty else {
      throw .malformed("the query has no storeAccount")
    }
    let forge = world.store.forge
    let signed = world.store.unfinished(storeAccount: account).map {
      forge.signedTransaction($0, signedAt: call.now)
    }
    return try JSONBody.response(UnfinishedList(transactions: signed))
  }

  static func finish(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let target = try JSONBody.decode(TransactionReference.self, from: call.request)
    return try refusing { () throws(StoreModelError) in
      try world.store.finish(transactionID: target.transactionID)
      return EmptyDocument()
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

  private static func refusing<Reply: Encodable>(
    _ body: () throws(StoreModelError) -> Reply
  ) throws(HTTPProblem) -> HTTPResponse {
    let reply: Reply
    do throws(StoreModelError) {
      reply = try body()
    } catch {
      if case .unknownTransaction = error { throw .notFound(error.description) }
      throw .invalid(error.description)
    }
    return try JSONBody.response(reply)
  }
}

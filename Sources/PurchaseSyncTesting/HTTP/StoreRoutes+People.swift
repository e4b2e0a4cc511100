import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync

/// What people do in the store without the app: parents who agree, changes of plan, families, cards that expire.
extension WorldState {
  static func requests(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let account = try world.caller(of: call.request)
    let requests = world.store.requests.filter { $0.payment.storeAccount == account && $0.state == .waiting }
    return try JSONBody.response(RequestList(requests: requests.map(RequestDocument.init)))
  }

  static func approve(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let decision = try JSONBody.decode(RequestDecision.self, from: call.request)
    return try refusing { () throws(StoreModelError) in
      TransactionReference(
        try world.store.approve(
          requestID: decision.requestID, accountToken: decision.accountToken, now: call.now))
    }
  }

  static func decline(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let decision = try JSONBody.decode(RequestDecision.self, from: call.request)
    return try refusing { () throws(StoreModelError) in
      try world.store.decline(requestID: decision.requestID)
      return EmptyDocument()
    }
  }

  static func promote(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let payment = try JSONBody.decode(PaymentRequest.self, from: call.request)
    let account = world.caller(account: payment.storeAccount, device: payment.device)
    return try refusing { () throws(StoreModelError) in
      RequestDocument(
        try world.store.promote(product: payment.productID, storeAccount: account ?? "", now: call.now))
    }
  }

  static func redeem(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let offer = try JSONBody.decode(OfferRedemption.self, from: call.request)
    let account = world.caller(account: offer.storeAccount, device: offer.device)
    return try refusing { () throws(StoreModelError) in
      TransactionReference(
        try world.store.redeem(
          offerCode: offer.offerCode, product: offer.productID, storeAccount: account ?? "", now: call.now))
    }
  }

  static func restore(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let caller = try JSONBody.decode(StoreCallerDocument.self, from: call.request)
    let account = world.caller(account: caller.storeAccount, device: caller.device)
    return try refusing { () throws(StoreModelError) in
      let listing = try world.store.restore(storeAccount: account, now: call.now)
      return ListingReply(
        account: account, transactions: listing.transactions,
        receipt: listing.receipt.map { Data($0).base64EncodedString() })
    }
  }

  static func setAccount(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let settings = try JSONBody.decode(AccountSettings.self, from: call.request)
    guard !settings.storeAccount.isEmpty else { throw .invalid("storeAccount: blank") }
    world.store.setAccount(
      settings.storeAccount, asksToBuy: settings.asksToBuy,
      interruptedPurchases: settings.interruptedPurchases)
    if let works = settings.billingWorks {
      world.store.setBilling(works: works, storeAccount: settings.storeAccount, now: call.now)
    }
    if let family = settings.family {
      world.store.setFamily(of: settings.storeAccount, to: family, now: call.now)
    }
    return try JSONBody.response(world.store.account(settings.storeAccount))
  }

  static func changePlan(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let change = try JSONBody.decode(PlanChange.self, from: call.request)
    guard let product = change.productID else { throw .malformed("the body: \"productID\" is missing") }
    return try refusing { () throws(StoreModelError) in
      let effect = try world.store.changePlan(
        transactionID: change.transactionID, to: product, now: call.now)
      return PlanChangeReply(effect: effect)
    }
  }

  static func setRenewal(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let wish = try JSONBody.decode(RenewalWish.self, from: call.request)
    return try refusing { () throws(StoreModelError) in
      let hasChanged = try world.store.setRenewal(
        on: wish.willRenew, transactionID: wish.transactionID, now: call.now)
      return ChangeReply(changed: hasChanged)
    }
  }

  static func raisePrice(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let change = try JSONBody.decode(PriceChange.self, from: call.request)
    return try refusing { () throws(StoreModelError) in
      try world.store.raisePrice(
        product: change.productID, to: change.price, needsConsent: change.needsConsent ?? false, now: call.now
      )
      return EmptyDocument()
    }
  }

  static func consent(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let answer = try JSONBody.decode(PriceAnswer.self, from: call.request)
    return try refusing { () throws(StoreModelError) in
      let hasChanged = try world.store.answerPriceIncrease(
        transactionID: answer.transactionID, consents: answer.consents, now: call.now)
      return ChangeReply(changed: hasChanged)
    }
  }

  static func reverseRefund(
    _ world: inout WorldState, _ call: Route.Call
  ) throws(HTTPProblem) -> HTTPResponse {
    let target = try JSONBody.decode(TransactionReference.self, from: call.request)
    return try refusing { () throws(StoreModelError) in
      TransactionReference(
        try world.store.reverseRefund(transactionID: target.transactionID, now: call.now))
    }
  }

  /// The queue of notifications, without their bodies.
  static func notifications(
    _ world: inout WorldState, _ call: Route.Call
  ) throws(HTTPProblem) -> HTTPResponse {
    world.store.advance(to: call.now)
    let queue = world.store.notifications
    return try JSONBody.response(
      NotificationList(
        waiting: queue.waiting.map(NotificationDocument.init), delivered: queue.deliveredCount,
        abandoned: queue.abandonedCount))
  }
}

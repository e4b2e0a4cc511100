import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync

/// Routes for events outside the app: approvals, refunds, changes of plan, families, cards that expire.
extension MockState {
  static func approve(
    _ mock: inout MockState, _ decision: RequestDecision, _ call: Route.Call
  ) throws -> TransactionReference {
    TransactionReference(
      try mock.store.approve(
        requestID: decision.requestID, accountToken: decision.accountToken, now: call.now))
  }

  static func decline(
    _ mock: inout MockState, _ decision: RequestDecision, _ call: Route.Call
  ) throws -> EmptyDocument {
    try mock.store.decline(requestID: decision.requestID)
    return EmptyDocument()
  }

  static func promote(
    _ mock: inout MockState, _ promotion: PromotionRequest, _ call: Route.Call
  ) throws -> RequestDocument {
    let account = mock.account(promotion.storeAccount, device: promotion.device)
    return RequestDocument(
      try mock.store.promote(product: promotion.productID, storeAccount: account ?? "", now: call.now))
  }

  static func redeem(
    _ mock: inout MockState, _ offer: OfferRedemption, _ call: Route.Call
  ) throws -> TransactionReference {
    let account = mock.account(offer.storeAccount, device: offer.device)
    return TransactionReference(
      try mock.store.redeem(
        offerCode: offer.offerCode, product: offer.productID, storeAccount: account ?? "", now: call.now))
  }

  /// Replies with the transactions of this app.
  static func sellBundleElsewhere(
    _ mock: inout MockState, _ sale: BundleSale, _ call: Route.Call
  ) throws -> StoreHandover {
    let account = mock.account(sale.storeAccount, device: sale.device) ?? ""
    let bundle = StoreProduct(
      bundle: sale.productID, of: sale.members.map { .init($0) }, period: .seconds(30 * 86_400))
    let records = try mock.store.receive(
      bundle, soldElsewhereTo: account, accountToken: sale.accountToken, now: call.now)
    return mock.store.handover(records, to: account, now: call.now)
  }

  static func setAccount(
    _ mock: inout MockState, _ settings: AccountSettings, _ call: Route.Call
  ) throws -> StoreAccount {
    guard !settings.storeAccount.isEmpty else { throw HTTPProblem.invalid("storeAccount: blank") }
    mock.store.setAccount(
      settings.storeAccount, asksToBuy: settings.asksToBuy,
      interruptedPurchases: settings.interruptedPurchases)
    if let works = settings.billingWorks {
      mock.store.setBilling(works: works, storeAccount: settings.storeAccount, now: call.now)
    }
    if let family = settings.family {
      mock.store.setFamily(of: settings.storeAccount, to: family, now: call.now)
    }
    return mock.store.account(settings.storeAccount)
  }

  /// Replies with the notification, for a caller that posts it to its backend.
  static func rescindConsent(
    _ mock: inout MockState, _ wish: ConsentWithdrawal, _ call: Route.Call
  ) throws -> NotificationBody {
    NotificationBody(
      signedPayload: try mock.store.rescindConsent(storeAccount: wish.storeAccount, now: call.now))
  }

  static func changePlan(
    _ mock: inout MockState, _ change: PlanChange, _ call: Route.Call
  ) throws -> PlanChangeReply {
    guard let product = change.productID else {
      throw HTTPProblem.malformed("the body: \"productID\" is missing")
    }
    return PlanChangeReply(
      effect: try mock.store.changePlan(transactionID: change.transactionID, to: product, now: call.now))
  }

  /// Replies with the transaction, and with its notification for a caller that posts it to its backend.
  static func renew(
    _ mock: inout MockState, _ change: PlanChange, _ call: Route.Call
  ) throws -> RenewalReply {
    let record =
      if let product = change.productID {
        try mock.store.upgrade(transactionID: change.transactionID, to: product, now: call.now)
      } else {
        try mock.store.renew(transactionID: change.transactionID, now: call.now)
      }
    var handover = mock.store.handover([record], to: record.storeAccount, now: call.now)
    handover.receipt = nil
    let forge = NotificationForge(receipts: mock.store.forge, environment: record.environment)
    let body = forge.version2(
      change.productID == nil ? .didRenew : .didChangeRenewalPreference,
      id: "renewal-" + record.transactionID,
      about: record, renewal: mock.store.renewal(of: record.originalTransactionID), signedAt: call.now)
    return RenewalReply(handover: handover, signedPayload: body["signedPayload"]?.string ?? "")
  }

  static func setRenewal(
    _ mock: inout MockState, _ wish: RenewalWish, _ call: Route.Call
  ) throws -> ChangeReply {
    ChangeReply(
      changed: try mock.store.setRenewal(
        on: wish.willRenew, transactionID: wish.transactionID, now: call.now))
  }

  static func raisePrice(
    _ mock: inout MockState, _ change: PriceChange, _ call: Route.Call
  ) throws -> EmptyDocument {
    try mock.store.raisePrice(
      product: change.productID, to: change.price, needsConsent: change.needsConsent ?? false, now: call.now)
    return EmptyDocument()
  }

  static func consent(
    _ mock: inout MockState, _ answer: PriceAnswer, _ call: Route.Call
  ) throws -> ChangeReply {
    ChangeReply(
      changed: try mock.store.answerPriceIncrease(
        transactionID: answer.transactionID, consents: answer.consents, now: call.now))
  }

  /// Replies with the notification of the refund, for a caller that posts it to its backend.
  static func refund(
    _ mock: inout MockState, _ wish: RefundWish, _ call: Route.Call
  ) throws -> NotificationBody {
    let record = try mock.store.refund(
      transactionID: wish.transactionID, try wish.extent(), now: call.now)
    let forge = NotificationForge(receipts: mock.store.signer, environment: record.environment)
    // A refund of a larger part is another notification.
    let part = record.refundedShare.map { "-\($0.milliPercent)" } ?? ""
    let body = forge.version2(
      .refund, id: "refund-" + record.transactionID + part, about: record,
      renewal: mock.store.renewal(of: record.originalTransactionID),
      state: mock.store.subscription(of: record.transactionID)?.state, signedAt: call.now)
    return NotificationBody(signedPayload: body["signedPayload"]?.string ?? "")
  }

  /// Replies with the notification of the reversal, too.
  static func reverseRefund(
    _ mock: inout MockState, _ target: TransactionReference, _ call: Route.Call
  ) throws -> SignedChange {
    let record = try mock.store.reverseRefund(transactionID: target.transactionID, now: call.now)
    let body = NotificationForge(receipts: mock.store.signer, environment: record.environment).version2(
      .refundReversed, id: "reversal-" + record.transactionID, about: record,
      renewal: mock.store.renewal(of: record.originalTransactionID),
      state: mock.store.subscription(of: record.transactionID)?.state, signedAt: call.now)
    return SignedChange(
      transactionID: record.transactionID, signedPayload: body["signedPayload"]?.string ?? "")
  }

  /// The customer asks for a refund: the store asks the backend how the purchase was used.
  static func requestRefund(
    _ mock: inout MockState, _ target: TransactionReference, _ call: Route.Call
  ) throws -> EmptyDocument {
    try mock.store.requestRefund(transactionID: target.transactionID, now: call.now)
    return EmptyDocument()
  }

  /// The store refuses a refund.
  static func declineRefund(
    _ mock: inout MockState, _ target: TransactionReference, _ call: Route.Call
  ) throws -> EmptyDocument {
    try mock.store.declineRefund(transactionID: target.transactionID, now: call.now)
    return EmptyDocument()
  }

  /// The queue of notifications, without their bodies.
  static func notifications(_ mock: inout MockState, _ call: Route.Call) -> NotificationList {
    mock.store.advance(to: call.now)
    let queue = mock.store.notifications
    return NotificationList(
      url: mock.notificationURL, versions: queue.versions.map(\.rawValue).sorted(),
      waiting: queue.waiting.map(NotificationDocument.init), delivered: queue.deliveredCount,
      abandoned: queue.abandonedCount)
  }

  /// Sets where and in which versions the store posts notifications from now on. Waiting ones go to the new place.
  static func setNotifications(
    _ mock: inout MockState, _ settings: NotificationSettings, _ call: Route.Call
  ) throws -> NotificationList {
    if let text = settings.url {
      guard text.isEmpty || MockServer.isNotificationURL(text) else {
        throw HTTPProblem.invalid(
          "url: no http or https URL with a host; empty text for this server's backend")
      }
      mock.notificationURL = text.isEmpty ? nil : text
    }
    if let versions = settings.versions {
      let known = versions.compactMap(NotificationVersion.init(rawValue:))
      guard known.count == versions.count else {
        throw HTTPProblem.invalid("versions: only 1 and 2")
      }
      mock.store.notifications.versions = Set(known)
    }
    return notifications(&mock, call)
  }
}

/// A purchase that begins in the store: the body of `POST /store/promotions`.
struct PromotionRequest: Decodable {
  var productID: String
  var storeAccount: String?
  var device: String?
}

/// A bundle that another app has sold: the body of `POST /store/bundles`.
struct BundleSale: Decodable {
  var productID: String
  var members: [String]
  var storeAccount: String?
  var device: String?
  var accountToken: UUID?
}

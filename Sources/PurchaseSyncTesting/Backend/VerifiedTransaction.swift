package import AppStoreDocuments
package import AppStoreReceipts
import Foundation

/// A transaction that the store confirms in any of its documents. Dates are milliseconds since 1970.
package struct VerifiedTransaction: Sendable, Hashable {
  package var transactionID: String
  /// The first transaction of its chain; its own id for a first purchase.
  package var originalTransactionID: String
  /// The id of the chain's first transaction before the store gave the chain another one. Needed when a proof is judged;
  /// table C does not keep it.
  package var previousOriginalTransactionID: String?
  package var environment: StoreEnvironment
  /// The app; nil where the store does not say.
  package var bundleID: String?
  package var productID: String
  /// How many units, or seats; of an assigned seat one, whatever its purchaser bought.
  package var quantity: Int
  /// How many of its seats were refunded, without an end for who has paid; nil where the store does not say.
  package var revokedSeats: Int?
  /// When the store said how many: a later statement may say nothing of it.
  package var seatsToldAt: Int64?
  /// Whether other transactions pay for the same period, because seats were added.
  package var isOneOfSeveral = false
  /// When the store charged; 0 where it does not say.
  package var purchaseDate: Int64
  package var originalPurchaseDate: Int64?
  /// The end of the period as sold; only subscriptions have one (R3.3).
  package var expiresDate: Int64?
  package var revocationDate: Int64?
  /// How much the store gave back; nil where it does not say, as in every app receipt. Then it is all of it.
  package var refundedShare: RefundedShare?
  /// When the store said how much: a later statement without a share may be newer.
  package var shareToldAt: Int64?
  /// Whether another plan, or a bundle, has replaced the period.
  package var isUpgraded = false
  /// Whether the store ended it because the customer switched to a bundle; nil where it does not say.
  package var isUpgradedToBundle: Bool?
  /// The purchase of a bundle that it is part of.
  package var bundle: BundlePurchase?
  /// Whether the period is free; nil where the store does not say.
  package var isTrial: Bool?
  /// Whether the period has an introductory price; nil where the store does not say.
  package var isInIntroductoryOffer: Bool?
  package var ownership: OwnershipType?
  /// Names the purchase of one period (R2.4).
  package var webOrderLineItemID: String?
  package var groupID: String?
  /// Whether a customer or the store itself started the charge; nil where the store does not say.
  package var reason: TransactionReason?
  /// Whether it can be bought again and again, and is restored on no other device; nil where the store does not say.
  package var isConsumable: Bool?
  /// The account token that came with the payment. Receipts hold none (StoreFacts b.4).
  package var appAccountToken: String?
  /// The time of the store's statement: the later of two statements counts.
  package var toldAt: Int64

  /// A first purchase without further facts.
  package init(
    transactionID: String, environment: StoreEnvironment, productID: String, quantity: Int,
    purchaseDate: Int64, toldAt: Int64
  ) {
    self.transactionID = transactionID
    originalTransactionID = transactionID
    self.environment = environment
    self.productID = productID
    self.quantity = quantity
    self.purchaseDate = purchaseDate
    self.toldAt = toldAt
  }

  /// From a signed transaction; `askedAt` is the time of the statement if the payload has none.
  package init(_ signed: SignedTransaction, askedAt: Int64) {
    transactionID = signed.transactionID
    originalTransactionID = signed.originalTransactionID
    previousOriginalTransactionID = signed.previousOriginalTransactionID
    environment = signed.environment
    bundleID = signed.bundleID
    productID = signed.productID
    quantity = Self.units(signed.quantity, signed.ownership)
    revokedSeats = signed.multiSeatInfo?.revokedSeats ?? 0
    isOneOfSeveral = signed.additionalReason != nil
    purchaseDate = signed.purchaseDate
    originalPurchaseDate = signed.originalPurchaseDate
    expiresDate = signed.expiresDate
    revocationDate = signed.revocationDate
    refundedShare = signed.refundedShare
    isUpgradedToBundle = signed.revocationDate.map { _ in signed.isUpgradedToBundle }
    isUpgraded = signed.isUpgraded || signed.isUpgradedToBundle
    bundle = signed.bundle
    if let period = SubscriptionPeriod(signed) {
      isTrial = period.isTrial
      isInIntroductoryOffer = period.isInIntroductoryOffer
    }
    ownership = signed.ownership
    webOrderLineItemID = signed.webOrderLineItemID
    groupID = signed.subscriptionGroupID
    reason = signed.reason
    isConsumable = signed.kind.map { $0 == .consumable }
    appAccountToken = signed.appAccountToken
    toldAt = signed.signedDate ?? askedAt
    if refundedShare != nil { shareToldAt = toldAt }
    seatsToldAt = toldAt
  }

  private static func units(_ quantity: Int, _ ownership: OwnershipType?) -> Int {
    ownership == .assigned ? min(1, quantity) : quantity
  }

  /// From an answer of `verifyReceipt` about an app's receipt, given at `toldAt`.
  package init(
    _ item: ReceiptTransaction, environment: StoreEnvironment, bundleID: String?, toldAt: Int64
  ) {
    transactionID = item.transactionID
    originalTransactionID = item.originalTransactionID
    self.environment = environment
    self.bundleID = item.oldStyle?.bundleID ?? bundleID
    productID = item.productID
    quantity = Self.units(item.quantity, item.ownership)
    // Before every order, so that an undated transaction is never matched to one.
    purchaseDate = item.purchaseDate ?? item.originalPurchaseDate ?? 0
    originalPurchaseDate = item.originalPurchaseDate
    expiresDate = item.expiresDate
    revocationDate = item.cancellationDate
    isUpgradedToBundle = item.cancellationDate.flatMap { _ in
      item.cancellationReason.map { $0 == .upgradedToBundle }
    }
    isUpgraded = item.isUpgraded || isUpgradedToBundle == true
    isTrial = item.isTrialPeriod
    isInIntroductoryOffer = item.isInIntroOfferPeriod
    ownership = item.ownership
    webOrderLineItemID = item.webOrderLineItemID
    groupID = item.subscriptionGroupID
    appAccountToken = item.appAccountToken
    self.toldAt = toldAt
  }

  /// The key of the payment. A restored purchase has a new id but was paid once, so its original counts. Each period of
  /// a subscription, which has an end, was paid.
  var grantKey: TransactionKey {
    var key = TransactionKey(self)
    if expiresDate == nil { key.transactionID = originalTransactionID }
    return key
  }

  /// What the customer paid for: the bundle that it is part of, else the product. An order names it.
  package var soldProductID: String { bundle?.productID ?? productID }

  /// Whether another person has paid: a family member who shares it, or the purchaser of an assigned seat.
  package var isOfAnotherPayer: Bool { ownership?.isOfAnotherPayer ?? false }

  /// The account token, if it is this customer's. What another person has paid carries that person's token, or none: the
  /// sources do not say.
  var ownToken: UUID? { isOfAnotherPayer ? nil : appAccountToken.flatMap { UUID(uuidString: $0) } }

  /// How much the store took back: nil if nothing. A refund of the rest of a replaced plan's price takes nothing: another
  /// period has its place (purchases-ios#6515). Nor does the switch to a bundle.
  package var refund: RefundedShare? {
    guard revocationDate != nil, isUpgradedToBundle != true else { return nil }
    if isUpgraded, expiresDate != nil, let refundedShare, refundedShare < .whole { return nil }
    return refundedShare ?? .whole
  }

  /// Whether the refund leaves nothing of it. A refunded period is over, whatever share of it was left.
  package var isTakenBack: Bool {
    refund.map { expiresDate != nil || $0.units(of: quantity) >= quantity } ?? false
  }

  /// The end of its entitlement: the end of the period or an earlier refund (R3.8).
  package var endsAt: Int64? {
    guard let expiresDate else { return nil }
    return min(expiresDate, revocationDate ?? .max)
  }

  /// What it says of its seats: the greater of two counts.
  private var seats: (toldAt: Int64, revoked: Int) { (seatsToldAt ?? 0, revokedSeats ?? 0) }

  /// What it says of its share: the greater of two counts.
  private var share: (toldAt: Int64, refunded: RefundedShare) { (shareToldAt ?? 0, refundedShare ?? .whole) }

  /// This statement merged with another one about the same transaction. The result does not depend on order and
  /// repetition.
  ///
  /// The later statement counts, also for a reversed refund. Of two at the same time, a refund in either counts. Fields
  /// that only one of them has are kept, and an upgrade is never undone.
  func merged(with other: VerifiedTransaction) -> VerifiedTransaction {
    let isLater = other.toldAt >= toldAt
    let (newer, older) = isLater ? (other, self) : (self, other)
    var result = newer
    result.isUpgraded = newer.isUpgraded || older.isUpgraded
    if newer.revocationDate == older.revocationDate || newer.toldAt == older.toldAt {
      // A refund in either statement counts.
      let said = [newer, older].compactMap(\.isUpgradedToBundle)
      result.isUpgradedToBundle = said.isEmpty ? nil : said.allSatisfy(\.self)
    }
    result.bundle = newer.bundle ?? older.bundle
    result.bundleID = newer.bundleID ?? older.bundleID
    result.originalPurchaseDate = newer.originalPurchaseDate ?? older.originalPurchaseDate
    result.previousOriginalTransactionID =
      newer.previousOriginalTransactionID ?? older.previousOriginalTransactionID
    result.isTrial = newer.isTrial ?? older.isTrial
    result.isInIntroductoryOffer = newer.isInIntroductoryOffer ?? older.isInIntroductoryOffer
    result.ownership = newer.ownership ?? older.ownership
    result.webOrderLineItemID = newer.webOrderLineItemID ?? older.webOrderLineItemID
    result.groupID = newer.groupID ?? older.groupID
    result.reason = newer.reason ?? older.reason
    // An app receipt names no type, and does not make a consumable another thing.
    result.isConsumable = newer.isConsumable ?? older.isConsumable
    result.appAccountToken = newer.appAccountToken ?? older.appAccountToken
    result.isOneOfSeveral = newer.isOneOfSeveral || older.isOneOfSeveral
    let counting = [newer, older].filter { $0.seatsToldAt != nil }.max { $0.seats < $1.seats }
    (result.revokedSeats, result.seatsToldAt) = (counting?.revokedSeats, counting?.seatsToldAt)
    // A document that cannot say how much does not make a part the whole.
    if newer.revocationDate != nil, newer.revocationDate == older.revocationDate {
      let saying = [newer, older].filter { $0.shareToldAt != nil }.max { $0.share < $1.share }
      (result.refundedShare, result.shareToldAt) = (saying?.refundedShare, saying?.shareToldAt)
    }
    if newer.toldAt == older.toldAt {
      result.expiresDate = [newer.expiresDate, older.expiresDate].compactMap(\.self).max()
      result.revocationDate = [newer.revocationDate, older.revocationDate].compactMap(\.self).min()
      result.refundedShare = [newer.refundedShare, older.refundedShare].compactMap(\.self).max()
      result.shareToldAt = [newer.shareToldAt, older.shareToldAt].compactMap(\.self).max()
    }
    return result
  }
}

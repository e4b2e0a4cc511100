public import AppStoreReceipts

/// A transaction that the store vouches for, from whichever document told of it: the facts that a backend acts on.
/// Dates are milliseconds since 1970.
public struct VerifiedTransaction: Sendable, Hashable {
  /// The store's id.
  public var transactionID: String
  /// The first transaction of its chain; its own id for a first purchase.
  public var originalTransactionID: String
  /// The verified environment.
  public var environment: StoreEnvironment
  /// The app; nil where the store does not say.
  public var bundleID: String?
  /// What was bought.
  public var productID: String
  /// How many.
  public var quantity: Int
  /// When the store charged; 0 where it does not say.
  public var purchaseDate: Int64
  /// When the chain began.
  public var originalPurchaseDate: Int64?
  /// When the period ends as it was sold; of subscriptions, and what makes it one (R3.3).
  public var expiresDate: Int64?
  /// When it was refunded or revoked.
  public var revocationDate: Int64?
  /// Whether another plan has replaced the period.
  public var isUpgraded = false
  /// Whether the period is free; nil where the store does not say.
  public var isTrial: Bool?
  /// Whether the period has an introductory price; nil where the store does not say.
  public var isInIntroductoryOffer: Bool?
  /// Whose purchase it is.
  public var ownership: OwnershipType?
  /// Names the purchase of one period (R2.4).
  public var webOrderLineItemID: String?
  /// The subscription group.
  public var groupID: String?
  /// The account token that came with the payment. Receipts hold none (receipt-facts, b.4).
  public var appAccountToken: String?
  /// When the store said so: of two tellings the later is right.
  public var toldAt: Int64

  /// A first purchase of which nothing more is known.
  init(
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

  /// From a signed transaction; `askedAt` is when the store said so, where the payload does not.
  public init(_ signed: SignedTransaction, askedAt: Int64) {
    transactionID = signed.transactionID
    originalTransactionID = signed.originalTransactionID
    environment = signed.environment
    bundleID = signed.bundleID
    productID = signed.productID
    quantity = signed.quantity
    purchaseDate = signed.purchaseDate
    originalPurchaseDate = signed.originalPurchaseDate
    expiresDate = signed.expiresDate
    revocationDate = signed.revocationDate
    isUpgraded = signed.isUpgraded
    if let period = SubscriptionPeriod(signed) {
      isTrial = period.isTrial
      isInIntroductoryOffer = period.isInIntroductoryOffer
    }
    ownership = signed.ownership
    webOrderLineItemID = signed.webOrderLineItemID
    groupID = signed.subscriptionGroupID
    appAccountToken = signed.appAccountToken
    toldAt = signed.signedDate ?? askedAt
  }

  /// From an answer of `verifyReceipt` about an app's receipt, given at `toldAt`.
  public init(
    _ item: ReceiptTransaction, environment: StoreEnvironment, bundleID: String?, toldAt: Int64
  ) {
    transactionID = item.transactionID
    originalTransactionID = item.originalTransactionID
    self.environment = environment
    self.bundleID = item.oldStyle?.bundleID ?? bundleID
    productID = item.productID
    quantity = item.quantity
    // Before every order, so that what the store does not date is never proposed to one.
    purchaseDate = item.purchaseDate ?? item.originalPurchaseDate ?? 0
    originalPurchaseDate = item.originalPurchaseDate
    expiresDate = item.expiresDate
    revocationDate = item.cancellationDate
    isUpgraded = item.isUpgraded
    isTrial = item.isTrialPeriod
    isInIntroductoryOffer = item.isInIntroOfferPeriod
    ownership = item.ownership
    webOrderLineItemID = item.webOrderLineItemID
    groupID = item.subscriptionGroupID
    appAccountToken = item.appAccountToken
    self.toldAt = toldAt
  }

  /// The key of what was paid for. A restored purchase has a new id, but was paid for once: what counts is its
  /// original. A subscription's period has an end, and each was paid for.
  var grantKey: TransactionKey {
    var key = TransactionKey(self)
    if expiresDate == nil { key.transactionID = originalTransactionID }
    return key
  }

  /// The moment from which it entitles nobody by itself: the end of the period or, if that came first, the refund
  /// (R3.8).
  public var endsAt: Int64? {
    guard let expiresDate else { return nil }
    return min(expiresDate, revocationDate ?? .max)
  }

  /// This telling and another one of the same transaction, in one: in any order, and however often, the same.
  ///
  /// The later one counts, also for a refund that was taken back. Told at the same moment, they do not contradict each
  /// other: a refund in either is one. What only one of them says stays said, and nothing undoes an upgrade.
  func merged(with other: VerifiedTransaction) -> VerifiedTransaction {
    let isLater = other.toldAt >= toldAt
    let (newer, older) = isLater ? (other, self) : (self, other)
    var result = newer
    result.isUpgraded = newer.isUpgraded || older.isUpgraded
    result.bundleID = newer.bundleID ?? older.bundleID
    result.originalPurchaseDate = newer.originalPurchaseDate ?? older.originalPurchaseDate
    result.isTrial = newer.isTrial ?? older.isTrial
    result.isInIntroductoryOffer = newer.isInIntroductoryOffer ?? older.isInIntroductoryOffer
    result.ownership = newer.ownership ?? older.ownership
    result.webOrderLineItemID = newer.webOrderLineItemID ?? older.webOrderLineItemID
    result.groupID = newer.groupID ?? older.groupID
    result.appAccountToken = newer.appAccountToken ?? older.appAccountToken
    if newer.toldAt == older.toldAt {
      result.expiresDate = [newer.expiresDate, older.expiresDate].compactMap(\.self).max()
      result.revocationDate = [newer.revocationDate, older.revocationDate].compactMap(\.self).min()
    }
    return result
  }
}

/// One period of an auto-renewable subscription that was paid for (or tried for free), from whichever
/// document told of it. Dates are milliseconds since 1970.
public struct SubscriptionPeriod: Sendable, Hashable {
  /// The transaction that paid it.
  public var transactionID: String
  /// The first transaction of the subscription: its name for ever.
  public var originalTransactionID: String
  /// What was paid for.
  public var productID: String
  /// The subscription group, where the document names it.
  public var groupID: String?
  /// Names the purchase of this period across documents.
  public var webOrderLineItemID: String?
  /// When it was charged; for a renewal, the end of the period before.
  public var purchaseDate: Int64?
  /// The first moment after it.
  public var expiresDate: Int64
  /// When it was refunded or revoked.
  public var revocationDate: Int64?
  /// Why.
  public var revocationReason: RevocationReason?
  /// How.
  public var revocationType: RevocationType?
  /// Whether another plan replaced it before its end.
  public var isUpgraded: Bool
  /// Whether it is free; nil if the document doesn't say.
  public var isTrial: Bool?
  /// Whether it costs less, as an introduction; a free trial is none. Nil if the document doesn't say.
  public var isInIntroductoryOffer: Bool?
  /// Whose purchase it is.
  public var ownership: OwnershipType?
  /// Which store, where the document names it.
  public var environment: StoreEnvironment?
  /// When the store said so (`signedDate`, `request_date`): of two tellings, the later is right.
  public var asOf: Int64?

  /// A period that some other document told of, such as an app receipt.
  public init(
    transactionID: String, originalTransactionID: String, productID: String, purchaseDate: Int64?,
    expiresDate: Int64
  ) {
    self.transactionID = transactionID
    self.originalTransactionID = originalTransactionID
    self.productID = productID
    self.purchaseDate = purchaseDate
    self.expiresDate = expiresDate
    isUpgraded = false
  }

  /// Nil if it is no subscription: without a date of expiry (R2.3, R3.3).
  public init?(_ transaction: ReceiptTransaction, environment: StoreEnvironment? = nil, asOf: Int64? = nil) {
    guard let expiresDate = transaction.expiresDate else { return nil }
    self.init(
      transactionID: transaction.transactionID, originalTransactionID: transaction.originalTransactionID,
      productID: transaction.productID, purchaseDate: transaction.purchaseDate, expiresDate: expiresDate)
    groupID = transaction.subscriptionGroupID
    webOrderLineItemID = transaction.webOrderLineItemID
    revocationDate = transaction.cancellationDate
    revocationReason = transaction.cancellationReason
    isUpgraded = transaction.isUpgraded
    isTrial = transaction.isTrialPeriod
    isInIntroductoryOffer = transaction.isInIntroOfferPeriod
    ownership = transaction.ownership
    self.environment = environment
    self.asOf = asOf
  }

  /// Nil if it is no subscription: without a date of expiry.
  public init?(_ purchase: InAppPurchase, environment: StoreEnvironment? = nil, asOf: Int64? = nil) {
    guard let expiresDate = purchase.expiresDate else { return nil }
    self.init(
      transactionID: purchase.transactionID, originalTransactionID: purchase.originalTransactionID,
      productID: purchase.productID, purchaseDate: purchase.purchaseDate, expiresDate: expiresDate)
    webOrderLineItemID = purchase.webOrderLineItemID.map(String.init)
    revocationDate = purchase.cancellationDate
    isTrial = purchase.isTrialPeriod
    isInIntroductoryOffer = purchase.isInIntroOfferPeriod
    self.environment = environment
    self.asOf = asOf
  }

  /// Nil if it is no subscription: without a date of expiry, or without a product.
  public init?(_ receipt: TransactionReceipt) {
    guard let expiresDate = receipt.expiresDate, let productID = receipt.productID else { return nil }
    self.init(
      transactionID: receipt.transactionID, originalTransactionID: receipt.originalTransactionID,
      productID: productID, purchaseDate: receipt.purchaseDate, expiresDate: expiresDate)
    groupID = receipt.subscriptionGroupID
    webOrderLineItemID = receipt.webOrderLineItemID
    revocationDate = receipt.cancellationDate
    revocationReason = receipt.cancellationReason
    ownership = receipt.ownership
    isTrial = receipt.isTrialPeriod
    isInIntroductoryOffer = receipt.isInIntroOfferPeriod
    environment = receipt.environment
  }

  /// Nil if it is no auto-renewable subscription.
  public init?(_ transaction: SignedTransaction) {
    guard let expiresDate = transaction.expiresDate else { return nil }
    if let kind = transaction.kind, kind != .autoRenewable { return nil }
    self.init(
      transactionID: transaction.transactionID, originalTransactionID: transaction.originalTransactionID,
      productID: transaction.productID, purchaseDate: transaction.purchaseDate, expiresDate: expiresDate)
    groupID = transaction.subscriptionGroupID
    webOrderLineItemID = transaction.webOrderLineItemID
    revocationDate = transaction.revocationDate
    revocationReason = transaction.revocationReason
    revocationType = transaction.revocationType
    isUpgraded = transaction.isUpgraded
    isTrial = Self.isTrial(transaction)
    isInIntroductoryOffer = transaction.offerType == .introductory ? isTrial.map { !$0 } : false
    ownership = transaction.ownership
    environment = transaction.isEnvironmentStated ? transaction.environment : nil
    asOf = transaction.signedDate
  }

  /// Payloads before `offerDiscountType` name the offer and not how it is paid; a price of 0 tells as well.
  private static func isTrial(_ transaction: SignedTransaction) -> Bool? {
    if let discount = transaction.offerDiscountType { return discount == .freeTrial }
    guard transaction.offerType != nil else { return false }
    return transaction.price.map { $0 == 0 }
  }

  /// This telling, completed by another one of the same transaction.
  func completed(by other: SubscriptionPeriod) -> SubscriptionPeriod {
    var result = self
    result.groupID = groupID ?? other.groupID
    result.webOrderLineItemID = webOrderLineItemID ?? other.webOrderLineItemID
    result.purchaseDate = purchaseDate ?? other.purchaseDate
    result.isTrial = isTrial ?? other.isTrial
    result.isInIntroductoryOffer = isInIntroductoryOffer ?? other.isInIntroductoryOffer
    result.ownership = ownership ?? other.ownership
    result.environment = environment ?? other.environment
    result.asOf = asOf ?? other.asOf
    return result
  }

  /// Two tellings in one answer, which don't contradict each other: a refund in either is one.
  func united(with other: SubscriptionPeriod) -> SubscriptionPeriod {
    var result = completed(by: other)
    result.revocationDate = revocationDate ?? other.revocationDate
    result.revocationReason = revocationReason ?? other.revocationReason
    result.revocationType = revocationType ?? other.revocationType
    result.isUpgraded = isUpgraded || other.isUpgraded
    return result
  }
}

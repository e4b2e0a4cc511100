package import AppStoreReceipts

/// One paid (or free trial) period of an auto-renewable subscription, from any document. Dates are
/// milliseconds since 1970.
package struct SubscriptionPeriod: Sendable, Hashable {
  /// The transaction that paid for the period.
  package var transactionID: String
  /// The first transaction of the subscription, which identifies it permanently.
  package var originalTransactionID: String
  /// The product of the period.
  package var productID: String
  /// The subscription group, if the document names it.
  package var groupID: String?
  /// Identifies the purchase of this period across documents.
  package var webOrderLineItemID: String?
  /// The time of the charge; for a renewal, the end of the period before.
  package var purchaseDate: Int64?
  /// The first moment after the period.
  package var expiresDate: Int64
  /// When the period was refunded or revoked.
  package var revocationDate: Int64?
  /// Why it was refunded or revoked.
  package var revocationReason: RevocationReason?
  /// The type of the revocation.
  package var revocationType: RevocationType?
  /// Whether another plan replaced the period before its end.
  package var isUpgraded: Bool
  /// The bundle that was paid, if the period is part of one.
  package var bundleProductID: String?
  /// Whether the period is free; nil if the document does not say.
  package var isTrial: Bool?
  /// Whether the period has a reduced introductory price; a free trial has none. Nil if the document does not
  /// say.
  package var isInIntroductoryOffer: Bool?
  /// Whether the purchase is the customer's own or shared by the family.
  package var ownership: OwnershipType?
  /// Whether other transactions pay for the same period: seats were added. False where the document cannot say.
  package var isOneOfSeveral = false
  /// How many were bought: seats of the subscription. Of a member's seat it is the purchaser's number.
  package var quantity = 1
  /// How many seats were refunded; nil where the document cannot say.
  package var revokedSeats: Int?
  /// The store environment, if the document names it.
  package var environment: StoreEnvironment?
  /// When the store made the statement (`signedDate`, `request_date`). Of two statements, the later one is
  /// right.
  package var asOf: Int64?

  /// Creates a period from another kind of document.
  package init(
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

  /// Nil without a date of expiry: the transaction is then no subscription (R2.3, R3.3).
  package init?(_ transaction: ReceiptTransaction, environment: StoreEnvironment? = nil, asOf: Int64? = nil) {
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
    quantity = transaction.quantity
    self.environment = environment
    self.asOf = asOf
  }

  /// Nil without a date of expiry: the purchase is then no subscription.
  package init?(_ purchase: InAppPurchase, environment: StoreEnvironment? = nil, asOf: Int64? = nil) {
    guard let expiresDate = purchase.expiresDate else { return nil }
    self.init(
      transactionID: purchase.transactionID, originalTransactionID: purchase.originalTransactionID,
      productID: purchase.productID, purchaseDate: purchase.purchaseDate, expiresDate: expiresDate)
    webOrderLineItemID = purchase.webOrderLineItemID.map(String.init)
    revocationDate = purchase.cancellationDate
    isTrial = purchase.isTrialPeriod
    isInIntroductoryOffer = purchase.isInIntroOfferPeriod
    quantity = purchase.quantity
    self.environment = environment
    self.asOf = asOf
  }

  /// Nil without a date of expiry or a product: the receipt is then of no subscription.
  package init?(_ receipt: TransactionReceipt) {
    guard let expiresDate = receipt.expiresDate, let productID = receipt.productID else { return nil }
    self.init(
      transactionID: receipt.transactionID, originalTransactionID: receipt.originalTransactionID,
      productID: productID, purchaseDate: receipt.purchaseDate, expiresDate: expiresDate)
    groupID = receipt.subscriptionGroupID
    webOrderLineItemID = receipt.webOrderLineItemID
    revocationDate = receipt.cancellationDate
    revocationReason = receipt.cancellationReason
    ownership = receipt.ownership
    quantity = receipt.quantity
    isTrial = receipt.isTrialPeriod
    isInIntroductoryOffer = receipt.isInIntroOfferPeriod
    environment = receipt.environment
  }

  /// Nil if the transaction is of no auto-renewable subscription.
  package init?(_ transaction: SignedTransaction) {
    guard let expiresDate = transaction.expiresDate else { return nil }
    if let kind = transaction.kind, !kind.isRenewed { return nil }
    self.init(
      transactionID: transaction.transactionID, originalTransactionID: transaction.originalTransactionID,
      productID: transaction.productID, purchaseDate: transaction.purchaseDate, expiresDate: expiresDate)
    groupID = transaction.subscriptionGroupID
    webOrderLineItemID = transaction.webOrderLineItemID
    revocationDate = transaction.revocationDate
    revocationReason = transaction.revocationReason
    revocationType = transaction.revocationType
    isUpgraded = transaction.isUpgraded || transaction.isUpgradedToBundle
    bundleProductID = transaction.bundle?.productID
    isTrial = Self.isTrial(transaction)
    isInIntroductoryOffer = transaction.offerType == .introductory ? isTrial.map { !$0 } : false
    ownership = transaction.ownership
    quantity = transaction.quantity
    isOneOfSeveral = transaction.additionalReason != nil
    revokedSeats = transaction.multiSeatInfo?.revokedSeats ?? 0
    environment = transaction.isEnvironmentStated ? transaction.environment : nil
    asOf = transaction.signedDate
  }

  /// Payloads without `offerDiscountType` name the offer but not how it is paid. A price of 0 means a trial. Nothing
  /// is known if the offer is unreadable.
  private static func isTrial(_ transaction: SignedTransaction) -> Bool? {
    if let discount = transaction.offerDiscountType { return discount == .freeTrial }
    guard transaction.offerType != nil else {
      return transaction.unknownFields["offerType"] == nil ? false : nil
    }
    return transaction.price.map { $0 == 0 }
  }

  /// How many seats the transaction gives its customer: one of an assigned seat, else what was not refunded of them.
  package var seats: Int {
    ownership == .assigned ? min(1, quantity) : max(0, quantity - (revokedSeats ?? 0))
  }

  /// This description, with missing values taken from another description of the same transaction.
  func completed(by other: SubscriptionPeriod) -> SubscriptionPeriod {
    var result = self
    result.groupID = groupID ?? other.groupID
    result.webOrderLineItemID = webOrderLineItemID ?? other.webOrderLineItemID
    result.purchaseDate = purchaseDate ?? other.purchaseDate
    result.bundleProductID = bundleProductID ?? other.bundleProductID
    result.isTrial = isTrial ?? other.isTrial
    result.isInIntroductoryOffer = isInIntroductoryOffer ?? other.isInIntroductoryOffer
    result.ownership = ownership ?? other.ownership
    result.isOneOfSeveral = isOneOfSeveral || other.isOneOfSeveral
    result.revokedSeats = revokedSeats ?? other.revokedSeats
    result.environment = environment ?? other.environment
    result.asOf = asOf ?? other.asOf
    return result
  }

  /// Merges two descriptions from one answer. They cannot contradict each other: a refund in either one
  /// counts.
  func united(with other: SubscriptionPeriod) -> SubscriptionPeriod {
    var result = completed(by: other)
    result.revocationDate = revocationDate ?? other.revocationDate
    result.revocationReason = revocationReason ?? other.revocationReason
    result.revocationType = revocationType ?? other.revocationType
    result.isUpgraded = isUpgraded || other.isUpgraded
    return result
  }
}

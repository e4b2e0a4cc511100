import AppStoreReceipts
public import PurchaseQueue

/// A charge, and what the store's documents say of it beyond the charge.
public struct ForgedTransaction: Sendable, Hashable {
  /// The charge.
  public var record: StoreTransactionRecord
  /// Whether the period is free.
  public var isTrial = false
  /// Whether the period has an introductory price.
  public var isInIntroductoryOffer = false
  /// Whether another plan replaced this one.
  public var isUpgraded = false
  /// The subscription group.
  public var groupID: String?
  /// The name of this period's purchase.
  public var webOrderLineItemID: String?

  /// A charge, with what it says of itself.
  public init(_ record: StoreTransactionRecord) {
    self.record = record
    isTrial = record.isTrial
    isUpgraded = record.isUpgraded
    groupID = record.groupID
    webOrderLineItemID = record.webOrderLineItemID
  }
}

/// What the store's documents say of the next renewal.
public struct ForgedRenewal: Sendable, Hashable {
  /// The first transaction of the subscription.
  public var originalTransactionID: String
  /// The product of this period.
  public var productID: String
  /// The product of the next one.
  public var autoRenewProductID: String
  /// Whether it will renew.
  public var willAutoRenew: Bool
  /// Why it ended: 1 to 5.
  public var expirationIntent: Int?
  /// Whether the store still tries to charge.
  public var isInBillingRetry: Bool?
  /// Until when access goes on although the charge failed.
  public var gracePeriodExpiresAt: Timestamp?
  /// Whether the customer consented to a higher price; nil if nobody asked.
  public var consentsToPrice: Bool?

  /// A renewal of the same product, unless another is named.
  public init(
    of record: StoreTransactionRecord, autoRenewProductID: String? = nil, willAutoRenew: Bool = true
  ) {
    originalTransactionID = record.originalTransactionID
    productID = record.productID
    self.autoRenewProductID = autoRenewProductID ?? record.productID
    self.willAutoRenew = willAutoRenew
  }

  /// What a life says of its next renewal, under the name of a chain: its own, or the one that a family member has.
  public init(of life: SubscriptionLife, originalTransactionID: String? = nil) {
    self.originalTransactionID = originalTransactionID ?? life.originalTransactionID
    productID = life.last.productID
    autoRenewProductID = life.nextPlan.productID
    willAutoRenew = life.willRenew
    switch life.priceIncrease {
    case .pending, .declined: consentsToPrice = false
    case .consented: consentsToPrice = true
    case nil: break
    }
    switch life.phase {
    case .active, .refunded: break
    case .gracePeriod, .billingRetry:
      if case .gracePeriod(let until) = life.phase { gracePeriodExpiresAt = until }
      expirationIntent = ExpirationIntent.billingError.rawValue
      isInBillingRetry = true
    case .expired(let intent):
      expirationIntent = intent.rawValue
      isInBillingRetry = false
    }
  }
}

/// What was said of a subscription's next renewal, from whichever document told of it. Dates are milliseconds
/// since 1970.
public struct SubscriptionRenewal: Sendable, Hashable {
  /// The product of the period that the document is about.
  public var productID: String?
  /// The product of the next period.
  public var autoRenewProductID: String?
  /// Whether it will renew.
  public var willAutoRenew: Bool?
  /// Why it ended.
  public var expirationIntent: ExpirationIntent?
  /// Whether the store still tries to charge.
  public var isInBillingRetry: Bool?
  /// Until when access goes on although the charge failed.
  public var gracePeriodExpiresDate: Int64?
  /// What the customer said to a higher price.
  public var priceIncreaseStatus: PriceIncreaseStatus?
  /// When the store said so.
  public var asOf: Int64?

  /// Nothing said yet.
  public init() {}

  /// From `verifyReceipt`, or version 1 of the notifications.
  public init(_ renewal: PendingRenewal, asOf: Int64? = nil) {
    productID = renewal.productID
    autoRenewProductID = renewal.autoRenewProductID
    willAutoRenew = renewal.willAutoRenew
    expirationIntent = renewal.expirationIntent
    isInBillingRetry = renewal.isInBillingRetryPeriod
    gracePeriodExpiresDate = renewal.gracePeriodExpiresDate
    priceIncreaseStatus = renewal.priceIncreaseStatus
    self.asOf = asOf
  }

  /// From a signed renewal info, and the summary that a notification or the App Store Server API adds.
  public init(_ renewal: SignedRenewalInfo, state: SubscriptionState? = nil) {
    productID = renewal.productID
    autoRenewProductID = renewal.autoRenewProductID
    willAutoRenew = renewal.willAutoRenew
    expirationIntent = renewal.expirationIntent
    isInBillingRetry =
      renewal.isInBillingRetryPeriod ?? state.map { $0 == .billingRetry || $0 == .gracePeriod }
    gracePeriodExpiresDate = renewal.gracePeriodExpiresDate
    priceIncreaseStatus = renewal.priceIncreaseStatus
    asOf = renewal.signedDate
  }
}

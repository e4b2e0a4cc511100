import AppStoreReceipts

/// The next renewal of a subscription, from any document. Dates are milliseconds since 1970.
public struct SubscriptionRenewal: Sendable, Hashable {
  /// The product of the period that the document is about.
  public var productID: String?
  /// The product of the next period.
  public var autoRenewProductID: String?
  /// Whether the subscription will renew.
  public var willAutoRenew: Bool?
  /// Why the subscription ended.
  public var expirationIntent: ExpirationIntent?
  /// Whether the store still tries to charge.
  public var isInBillingRetry: Bool?
  /// The end of access after a failed charge.
  public var gracePeriodExpiresDate: Int64?
  /// The customer's answer to a higher price.
  public var priceIncreaseStatus: PriceIncreaseStatus?
  /// How many seats renew; nil if no document says.
  public var seats: Int?
  /// Whether the subscription leaves its bundle at the next renewal, and renews alone.
  public var willUnbundle: Bool?
  /// When the store made the statement.
  public var asOf: Int64?

  /// Creates an empty value.
  public init() {}

  /// A renewal from `verifyReceipt`, or from version 1 of the notifications.
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

  /// A renewal from a signed renewal info, and the state that a notification or the App Store Server API
  /// adds.
  public init(_ renewal: SignedRenewalInfo, state: SubscriptionState? = nil) {
    productID = renewal.productID
    autoRenewProductID = renewal.autoRenewProductID
    willAutoRenew = renewal.willAutoRenew
    expirationIntent = renewal.expirationIntent
    isInBillingRetry =
      renewal.isInBillingRetryPeriod ?? state.map { $0 == .billingRetry || $0 == .gracePeriod }
    gracePeriodExpiresDate = renewal.gracePeriodExpiresDate
    priceIncreaseStatus = renewal.priceIncreaseStatus
    seats = renewal.renewalSeats
    willUnbundle = renewal.willUnbundle
    asOf = renewal.signedDate
  }
}

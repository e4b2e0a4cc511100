import AppStoreReceipts

extension ServerNotificationV2 {
  /// The event (StoreFacts d.2). An open set: the store adds words every year.
  public struct Kind: RawRepresentable, Hashable, Sendable, Codable {
    /// The store's word.
    public var rawValue: String

    /// Any word, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Subscribed, for the first time or again.
    public static let subscribed = Kind(rawValue: "SUBSCRIBED")
    /// Renewed.
    public static let didRenew = Kind(rawValue: "DID_RENEW")
    /// The charge failed; the store keeps trying for up to 60 days.
    public static let didFailToRenew = Kind(rawValue: "DID_FAIL_TO_RENEW")
    /// The grace period is over; the store keeps trying.
    public static let gracePeriodExpired = Kind(rawValue: "GRACE_PERIOD_EXPIRED")
    /// The subscription ended.
    public static let expired = Kind(rawValue: "EXPIRED")
    /// Renewal was turned on or off.
    public static let didChangeRenewalStatus = Kind(rawValue: "DID_CHANGE_RENEWAL_STATUS")
    /// A change of plan: now, at the next period, or cancelled.
    public static let didChangeRenewalPreference = Kind(rawValue: "DID_CHANGE_RENEWAL_PREF")
    /// A subscriber redeemed an offer.
    public static let offerRedeemed = Kind(rawValue: "OFFER_REDEEMED")
    /// A higher price was announced.
    public static let priceIncrease = Kind(rawValue: "PRICE_INCREASE")
    /// Advanced Commerce: the price changed.
    public static let priceChange = Kind(rawValue: "PRICE_CHANGE")
    /// Advanced Commerce: the texts changed.
    public static let metadataUpdate = Kind(rawValue: "METADATA_UPDATE")
    /// Advanced Commerce: the subscription was migrated.
    public static let migration = Kind(rawValue: "MIGRATION")
    /// Refunded. The transaction's `revocationDate` has the moment; without one it stays valid, see ``Subtype/seats``.
    public static let refund = Kind(rawValue: "REFUND")
    /// A refund was refused.
    public static let refundDeclined = Kind(rawValue: "REFUND_DECLINED")
    /// A refund was reversed: give the purchase back.
    public static let refundReversed = Kind(rawValue: "REFUND_REVERSED")
    /// A family member lost a shared purchase.
    public static let revoke = Kind(rawValue: "REVOKE")
    /// A refund was requested, and the store asks for data.
    public static let consumptionRequest = Kind(rawValue: "CONSUMPTION_REQUEST")
    /// A product that does not renew was bought.
    public static let oneTimeCharge = Kind(rawValue: "ONE_TIME_CHARGE")
    /// The end of one subscription's period was postponed.
    public static let renewalExtended = Kind(rawValue: "RENEWAL_EXTENDED")
    /// The ends of many subscriptions' periods were postponed, or one failed.
    public static let renewalExtension = Kind(rawValue: "RENEWAL_EXTENSION")
    /// An event of a token for a purchase outside the store.
    public static let externalPurchaseToken = Kind(rawValue: "EXTERNAL_PURCHASE_TOKEN")
    /// A parent withdrew consent.
    public static let rescindConsent = Kind(rawValue: "RESCIND_CONSENT")
    /// The store took seats back that the app had claimed; `unclaimInfo` names them.
    public static let unclaimSeats = Kind(rawValue: "UNCLAIM_SEATS")
    /// A test that the developer requested.
    public static let test = Kind(rawValue: "TEST")
  }

  /// The details of the event (StoreFacts d.2). An open set.
  public struct Subtype: RawRepresentable, Hashable, Sendable, Codable {
    /// The store's word.
    public var rawValue: String

    /// Any word, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The first subscription.
    public static let initialBuy = Subtype(rawValue: "INITIAL_BUY")
    /// A later subscription.
    public static let resubscribe = Subtype(rawValue: "RESUBSCRIBE")
    /// A later try of the store succeeded.
    public static let billingRecovery = Subtype(rawValue: "BILLING_RECOVERY")
    /// There is a grace period: access continues.
    public static let gracePeriod = Subtype(rawValue: "GRACE_PERIOD")
    /// The customer turned renewal off.
    public static let voluntary = Subtype(rawValue: "VOLUNTARY")
    /// The store tried for 60 days and stopped.
    public static let billingRetry = Subtype(rawValue: "BILLING_RETRY")
    /// The customer did not consent to a higher price.
    public static let priceIncrease = Subtype(rawValue: "PRICE_INCREASE")
    /// The product was withdrawn.
    public static let productNotForSale = Subtype(rawValue: "PRODUCT_NOT_FOR_SALE")
    /// Renewal was turned on.
    public static let autoRenewEnabled = Subtype(rawValue: "AUTO_RENEW_ENABLED")
    /// Renewal was turned off.
    public static let autoRenewDisabled = Subtype(rawValue: "AUTO_RENEW_DISABLED")
    /// To a higher plan, at once.
    public static let upgrade = Subtype(rawValue: "UPGRADE")
    /// To a lower plan, at the next period.
    public static let downgrade = Subtype(rawValue: "DOWNGRADE")
    /// The customer has not answered yet.
    public static let pending = Subtype(rawValue: "PENDING")
    /// The customer consented, or only had to be informed.
    public static let accepted = Subtype(rawValue: "ACCEPTED")
    /// All extensions are done; `summary` has the counts.
    public static let summary = Subtype(rawValue: "SUMMARY")
    /// One subscription was not extended.
    public static let failure = Subtype(rawValue: "FAILURE")
    /// Some seats of a subscription were refunded. The transaction stays valid, and has no `revocationDate`.
    public static let seats = Subtype(rawValue: "SEATS")
    /// Seats were added: at once.
    public static let increaseQuantity = Subtype(rawValue: "INCREASE_QUANTITY")
    /// Fewer seats from the next renewal on.
    public static let decreaseQuantity = Subtype(rawValue: "DECREASE_QUANTITY")
    /// A token was created.
    public static let created = Subtype(rawValue: "CREATED")
    /// A token has not been reported yet.
    public static let activeTokenReminder = Subtype(rawValue: "ACTIVE_TOKEN_REMINDER")
    /// A token without a report.
    public static let unreported = Subtype(rawValue: "UNREPORTED")
  }

  /// Why a customer asks for a refund (StoreFacts d.2). An open set.
  public struct ConsumptionRequestReason: RawRepresentable, Hashable, Sendable, Codable {
    /// The store's word.
    public var rawValue: String

    /// Any word, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Bought by accident.
    public static let unintendedPurchase = ConsumptionRequestReason(rawValue: "UNINTENDED_PURCHASE")
    /// Not delivered.
    public static let fulfillmentIssue = ConsumptionRequestReason(rawValue: "FULFILLMENT_ISSUE")
    /// Not satisfied.
    public static let unsatisfied = ConsumptionRequestReason(rawValue: "UNSATISFIED_WITH_PURCHASE")
    /// A legal reason.
    public static let legal = ConsumptionRequestReason(rawValue: "LEGAL")
    /// Another reason.
    public static let other = ConsumptionRequestReason(rawValue: "OTHER")
  }
}

public import AppStoreReceipts

/// An item of `pending_renewal_info`: the next renewal of a subscription (StoreFacts a.6, R2.6, R5.6). Dates
/// are milliseconds since 1970. Every field can be absent.
public struct PendingRenewal: Sendable, Hashable {
  /// `original_transaction_id`; absent in answers before 2018.
  public var originalTransactionID: String?
  /// `product_id`: the product of the current period.
  public var productID: String?
  /// `auto_renew_product_id`: the product of the next period. If it differs from ``productID``, a change
  /// takes effect at the end of this period.
  public var autoRenewProductID: String?
  /// `auto_renew_status`. The store writes 1, "1" or "true"; all are read.
  public var autoRenewStatus: AutoRenewStatus?
  /// `expiration_intent`. Only ended subscriptions have it.
  public var expirationIntent: ExpirationIntent?
  /// `is_in_billing_retry_period`: true while the store tries to charge, false after it stopped.
  public var isInBillingRetryPeriod: Bool?
  /// `grace_period_expires_date`
  public var gracePeriodExpiresDate: Int64?
  /// `price_consent_status`: whether the customer consented to a higher price.
  public var consentsToPrice: Bool?
  /// `price_increase_status`
  public var priceIncreaseStatus: PriceIncreaseStatus?
  /// `offer_code_ref_name`
  public var offerCodeName: String?
  /// `promotional_offer_id`
  public var promotionalOfferID: String?
  /// Fields that this module does not know.
  public var unknownFields: [String: JSONValue]

  /// Reads one item. Throws if it is no object, or if a known field has an invalid value.
  public init(_ value: JSONValue) throws(ReceiptDecodingError) {
    try self.init(JSONFields(value, path: ""))
  }

  init(_ input: JSONFields) throws(ReceiptDecodingError) {
    var fields = input
    try self.init(taking: &fields)
    originalTransactionID = try fields.identifier("original_transaction_id")
    productID = try fields.identifier("product_id")
    consentsToPrice = try fields.flag("price_consent_status")
    priceIncreaseStatus = try fields.code("price_increase_status", as: PriceIncreaseStatus.self)
    offerCodeName = try fields.identifier("offer_code_ref_name")
    promotionalOfferID = try fields.identifier("promotional_offer_id")
    unknownFields = try fields.unknown()
  }

  /// The fields that the old style and version 1 of the notifications have at their top level.
  init(taking fields: inout JSONFields) throws(ReceiptDecodingError) {
    autoRenewProductID = try fields.identifier("auto_renew_product_id")
    autoRenewStatus = try fields.renewStatus("auto_renew_status")
    expirationIntent = try fields.code("expiration_intent", as: ExpirationIntent.self)
    isInBillingRetryPeriod = try fields.flag("is_in_billing_retry_period")
    gracePeriodExpiresDate = try fields.date(
      "grace_period_expires_date_ms", "grace_period_expires_date", "grace_period_expires_date_pst")
    unknownFields = [:]
  }

  /// Whether the subscription will renew; nil if the field is absent or has an unknown number.
  public var willAutoRenew: Bool? { autoRenewStatus?.willAutoRenew }

  /// Whether no field is present.
  var isEmpty: Bool {
    autoRenewProductID == nil && autoRenewStatus == nil && expirationIntent == nil
      && isInBillingRetryPeriod == nil && gracePeriodExpiresDate == nil
  }
}

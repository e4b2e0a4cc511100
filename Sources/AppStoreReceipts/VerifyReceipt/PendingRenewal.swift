/// An item of `pending_renewal_info`: what happens to a subscription at the end of its period
/// (receipt-facts.md a.6, R2.6, R5.6). Dates are milliseconds since 1970. Every field can be absent.
public struct PendingRenewal: Sendable, Hashable {
  /// `original_transaction_id`; absent in answers before 2018.
  public var originalTransactionID: String?
  /// `product_id`: the product of the present period.
  public var productID: String?
  /// `auto_renew_product_id`: the product of the next period. Another one than ``productID`` is a change that
  /// waits for the end of this period.
  public var autoRenewProductID: String?
  /// `auto_renew_status`. Written as 1, "1" or "true", and read from each.
  public var autoRenewStatus: AutoRenewStatus?
  /// `expiration_intent`; of subscriptions that ended.
  public var expirationIntent: ExpirationIntent?
  /// `is_in_billing_retry_period`: true while the store tries to charge, false once it gave up.
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
  /// What this module doesn't know.
  public var unknownFields: [String: JSONValue]

  /// Reads one such object. Throws if it is none, or a known field has a value that it can't have.
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

  /// Whether it will renew; nil if that isn't said, or in a number of unknown meaning.
  public var willAutoRenew: Bool? { autoRenewStatus?.willAutoRenew }

  /// Whether nothing is said at all.
  var isEmpty: Bool {
    autoRenewProductID == nil && autoRenewStatus == nil && expirationIntent == nil
      && isInBillingRetryPeriod == nil && gracePeriodExpiresDate == nil
  }
}

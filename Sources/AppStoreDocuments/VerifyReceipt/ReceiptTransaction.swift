public import AppStoreReceipts

/// One transaction of a `verifyReceipt` answer: an item of `in_app` or `latest_receipt_info`, or the whole
/// `receipt` of the old style (StoreFacts a.5 and a.7). **Decoded, not verified**: trust it only if your own
/// server got it from the store.
///
/// Dates are milliseconds since 1970, read from the first readable one of their three spellings (`_ms`, GMT,
/// Los Angeles). The same transaction may differ between `in_app` and `latest_receipt_info`, in
/// `original_purchase_date` and `is_trial_period` (a.5): `latest_receipt_info` is right.
public struct ReceiptTransaction: Sendable, Hashable {
  /// `transaction_id`, with every digit.
  public var transactionID: String
  /// `original_transaction_id`; the transaction's own id if it is absent.
  public var originalTransactionID: String
  /// `web_order_line_item_id`: identifies the purchase of one period. Only subscriptions have it.
  public var webOrderLineItemID: String?
  /// `product_id`
  public var productID: String
  /// `quantity`; 1 if it is absent.
  public var quantity: Int
  /// `purchase_date`
  public var purchaseDate: Int64?
  /// `original_purchase_date`
  public var originalPurchaseDate: Int64?
  /// `expires_date`: milliseconds in the old style, a date in the unified one. Only auto-renewable
  /// subscriptions have it.
  public var expiresDate: Int64?
  /// `cancellation_date`: when the purchase was refunded or revoked.
  public var cancellationDate: Int64?
  /// `cancellation_reason`
  public var cancellationReason: RevocationReason?
  /// `is_trial_period`
  public var isTrialPeriod: Bool?
  /// `is_in_intro_offer_period`
  public var isInIntroOfferPeriod: Bool?
  /// `is_upgraded`: another plan of the group replaced this one; false if it is absent.
  public var isUpgraded: Bool
  /// `in_app_ownership_type`
  public var ownership: OwnershipType?
  /// `subscription_group_identifier`
  public var subscriptionGroupID: String?
  /// `promotional_offer_id`
  public var promotionalOfferID: String?
  /// `offer_code_ref_name`
  public var offerCodeName: String?
  /// `app_account_token`, unchanged: a UUID. Compare it without regard to case.
  public var appAccountToken: String?
  /// Fields that only the old style has; nil in the unified style.
  public var oldStyle: OldStyle? {
    get { oldStyleBox.first }
    set { oldStyleBox = newValue.map { [$0] } ?? [] }
  }
  /// At most one element. Stored in an array, because each of the many entries of a unified answer would
  /// otherwise hold seven empty fields.
  private var oldStyleBox: [OldStyle] = []
  /// Fields that this module does not know.
  public var unknownFields: [String: JSONValue]

  /// Fields of the old, per-transaction style (StoreFacts a.7, R1.3).
  public struct OldStyle: Sendable, Hashable {
    /// `bid`: the bundle id.
    public var bundleID: String?
    /// `bvrs`: the bundle version.
    public var bundleVersion: String?
    /// `item_id`: the store's number of the *product*.
    public var itemID: String?
    /// `app_item_id`: the store's number of the app; production only.
    public var appItemID: String?
    /// `version_external_identifier`
    public var versionExternalID: String?
    /// `unique_identifier`
    public var uniqueID: String?
    /// `unique_vendor_identifier`
    public var uniqueVendorID: String?
  }

  /// Reads one transaction. Throws if it is no object, if `transaction_id` or `product_id` is absent, or if a
  /// known field has an invalid value; the error names the field.
  public init(_ value: JSONValue) throws(ReceiptDecodingError) {
    try self.init(JSONFields(value, path: ""))
  }

  /// Takes the fields, which are not copied: a long answer has many of them.
  init(_ fields: consuming JSONFields) throws(ReceiptDecodingError) {
    fields.optional = Self.optional
    transactionID = try fields.required(fields.identifier("transaction_id"), "transaction_id")
    originalTransactionID = try fields.identifier("original_transaction_id") ?? transactionID
    webOrderLineItemID = try fields.identifier("web_order_line_item_id")
    productID = try fields.required(fields.identifier("product_id"), "product_id")
    quantity = try fields.quantity("quantity") ?? 1
    purchaseDate = try fields.date("purchase_date_ms", "purchase_date", "purchase_date_pst")
    originalPurchaseDate = try fields.date(
      "original_purchase_date_ms", "original_purchase_date", "original_purchase_date_pst")
    expiresDate = try fields.date(
      "expires_date_ms", "expires_date", "expires_date_formatted", "expires_date_pst",
      "expires_date_formatted_pst")
    cancellationDate = try fields.date(
      "cancellation_date_ms", "cancellation_date", "cancellation_date_pst")
    cancellationReason = try fields.code("cancellation_reason", as: RevocationReason.self)
    isTrialPeriod = try fields.flag("is_trial_period")
    isInIntroOfferPeriod = try fields.flag("is_in_intro_offer_period")
    isUpgraded = try fields.flag("is_upgraded") ?? false
    ownership = try fields.word("in_app_ownership_type", as: OwnershipType.self)
    subscriptionGroupID = try fields.identifier("subscription_group_identifier")
    promotionalOfferID = try fields.identifier("promotional_offer_id")
    offerCodeName = try fields.identifier("offer_code_ref_name")
    appAccountToken = try fields.identifier("app_account_token")
    let oldStyle = try OldStyle(
      bundleID: fields.identifier("bid"), bundleVersion: fields.text("bvrs"),
      itemID: fields.identifier("item_id"), appItemID: fields.identifier("app_item_id"),
      versionExternalID: fields.identifier("version_external_identifier"),
      uniqueID: fields.identifier("unique_identifier"),
      uniqueVendorID: fields.identifier("unique_vendor_identifier"))
    oldStyleBox = oldStyle == OldStyle() ? [] : [oldStyle]
    unknownFields = try fields.unknown()
  }

  /// What decides neither who bought what, nor whether it is still paid.
  private static let optional: Set = [
    "original_purchase_date_ms", "original_purchase_date", "original_purchase_date_pst",
    "cancellation_reason",
    "promotional_offer_id", "offer_code_ref_name", "bvrs", "item_id", "app_item_id",
    "version_external_identifier", "unique_identifier", "unique_vendor_identifier",
  ]
}

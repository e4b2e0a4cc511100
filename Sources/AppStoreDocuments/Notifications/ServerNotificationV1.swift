public import AppStoreReceipts

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A server notification, version 1 (StoreFacts d.1). Deprecated since June 2023, and still sent to
/// apps that have not switched.
///
/// **It is not signed: anyone can post one.** Use it as a reason to ask the store, with a receipt of your
/// own, and trust only the answer. A check of ``password`` only keeps noise out. It contains a secret and a
/// proof; descriptions show neither. Dates are milliseconds since 1970.
public struct ServerNotificationV1: Sendable, Hashable {
  /// `notification_type`
  public var kind: Kind
  /// `environment`, in which production is `PROD`; see ``storeEnvironment``.
  public var environment: String?
  /// `password`: the app's shared secret, in clear text.
  public var password: SharedSecret?
  /// `bid`
  public var bundleID: String?
  /// `bvrs`
  public var bundleVersion: String?
  /// `original_transaction_id`
  public var originalTransactionID: String?
  /// `auto_renew_adam_id`
  public var autoRenewAdamID: String?
  /// `auto_renew_product_id`, `auto_renew_status`, `expiration_intent` of the top level.
  public var topLevelRenewal: PendingRenewal?
  /// `auto_renew_status_change_date`
  public var autoRenewStatusChangeDate: Int64?
  /// `cancellation_date`
  public var cancellationDate: Int64?
  /// `web_order_line_item_id`
  public var webOrderLineItemID: String?
  /// `deprecation`
  public var deprecation: String?
  /// `unified_receipt`: status, newest receipt, up to 100 newest transactions, pending renewals. Sent since
  /// November 2019.
  public var unifiedReceipt: VerifyReceiptResponse?
  /// `latest_receipt_info`, up to March 2021.
  public var latestTransactions: [ReceiptTransaction]
  /// `latest_expired_receipt_info`, up to March 2021.
  public var latestExpiredTransactions: [ReceiptTransaction]
  /// `latest_receipt`, up to March 2021.
  public var latestReceipt: String?
  /// `latest_expired_receipt`, up to March 2021.
  public var latestExpiredReceipt: String?
  /// Fields that this module does not know.
  public var unknownFields: [String: JSONValue]

  /// Reads the body of the POST. Throws if it is no JSON object, has no `notification_type`, or a known field
  /// has an invalid value; the error names the field.
  public init(json: Data) throws(ReceiptDecodingError) {
    try self.init(JSONFields(json: json))
  }

  init(_ input: JSONFields) throws(ReceiptDecodingError) {
    var fields = input
    kind = try fields.required(fields.word("notification_type", as: Kind.self), "notification_type")
    environment = try fields.identifier("environment")
    password = try fields.text("password").map(SharedSecret.init)
    bundleID = try fields.identifier("bid")
    bundleVersion = try fields.text("bvrs")
    originalTransactionID = try fields.identifier("original_transaction_id")
    autoRenewAdamID = try fields.identifier("auto_renew_adam_id")
    var renewal = try PendingRenewal(taking: &fields)
    renewal.originalTransactionID = originalTransactionID
    topLevelRenewal = renewal.isEmpty ? nil : renewal
    autoRenewStatusChangeDate = try fields.date(
      "auto_renew_status_change_date_ms", "auto_renew_status_change_date",
      "auto_renew_status_change_date_pst")
    cancellationDate = try fields.date(
      "cancellation_date_ms", "cancellation_date", "cancellation_date_pst")
    webOrderLineItemID = try fields.identifier("web_order_line_item_id")
    deprecation = try fields.text("deprecation")
    unifiedReceipt = try fields.object("unified_receipt", VerifyReceiptResponse.init)
    latestTransactions = try fields.objects("latest_receipt_info", ReceiptTransaction.init)
    latestExpiredTransactions = try fields.objects("latest_expired_receipt_info", ReceiptTransaction.init)
    latestReceipt = try fields.identifier("latest_receipt")
    latestExpiredReceipt = try fields.identifier("latest_expired_receipt")
    unknownFields = try fields.unknown()
  }

  /// ``environment`` under the name that all other documents use.
  public var storeEnvironment: StoreEnvironment? {
    environment.map { $0 == "PROD" ? .production : StoreEnvironment(rawValue: $0) }
  }

  /// All transactions in the notification; one may occur several times.
  public var transactions: [ReceiptTransaction] {
    latestExpiredTransactions + latestTransactions + (unifiedReceipt?.transactions ?? [])
  }
}

extension ServerNotificationV1 {
  /// The event. An open set: an unknown word is kept.
  public struct Kind: RawRepresentable, Hashable, Sendable, Codable {
    /// The store's word.
    public var rawValue: String

    /// Any word, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The first purchase of a subscription.
    public static let initialBuy = Kind(rawValue: "INITIAL_BUY")
    /// The customer renewed, or changed to another product, in person.
    public static let interactiveRenewal = Kind(rawValue: "INTERACTIVE_RENEWAL")
    /// The store renewed.
    public static let didRenew = Kind(rawValue: "DID_RENEW")
    /// The store renewed a lapsed subscription on a later try.
    public static let didRecover = Kind(rawValue: "DID_RECOVER")
    /// The old name of ``didRecover``, up to March 2021.
    public static let renewal = Kind(rawValue: "RENEWAL")
    /// The charge for a renewal failed.
    public static let didFailToRenew = Kind(rawValue: "DID_FAIL_TO_RENEW")
    /// Renewal was turned on or off.
    public static let didChangeRenewalStatus = Kind(rawValue: "DID_CHANGE_RENEWAL_STATUS")
    /// The next period has another product.
    public static let didChangeRenewalPreference = Kind(rawValue: "DID_CHANGE_RENEWAL_PREF")
    /// A subscription was refunded or upgraded.
    public static let cancel = Kind(rawValue: "CANCEL")
    /// A purchase other than an auto-renewable subscription was refunded.
    public static let refund = Kind(rawValue: "REFUND")
    /// A family member lost a shared purchase.
    public static let revoke = Kind(rawValue: "REVOKE")
    /// The customer asked for a refund, and the store asks for data.
    public static let consumptionRequest = Kind(rawValue: "CONSUMPTION_REQUEST")
    /// The customer was asked to consent to a higher price.
    public static let priceIncreaseConsent = Kind(rawValue: "PRICE_INCREASE_CONSENT")
  }
}

extension ServerNotificationV1: CustomStringConvertible, CustomReflectable {
  /// The kind, without password and receipt.
  public var description: String { "notification \(kind.rawValue), version 1" }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

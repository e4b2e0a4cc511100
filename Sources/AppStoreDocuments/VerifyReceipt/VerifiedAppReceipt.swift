public import AppStoreReceipts

/// The `receipt` of an answer in the unified style (StoreFacts a.4): the app, and the purchases in the sent
/// receipt. Dates are milliseconds since 1970. Every field can be absent.
public struct VerifiedAppReceipt: Sendable, Hashable {
  /// `receipt_type`: `Production`, `ProductionSandbox`, `ProductionVPP`, `ProductionVPPSandbox`, or a newer
  /// word.
  public var receiptType: String?
  /// `adam_id`, which equals `app_item_id`; 0 in the sandbox.
  public var appID: Int64?
  /// `bundle_id`
  public var bundleID: String?
  /// `application_version`
  public var applicationVersion: String?
  /// `download_id`, up to 59 bits; 0 in the sandbox.
  public var downloadID: Int64?
  /// `version_external_identifier`
  public var versionExternalID: Int64?
  /// `original_application_version`; "1.0" in the sandbox.
  public var originalApplicationVersion: String?
  /// `receipt_creation_date`
  public var receiptCreationDate: Int64?
  /// `request_date`: when the store answered.
  public var requestDate: Int64?
  /// `original_purchase_date`: the first download of the app.
  public var originalPurchaseDate: Int64?
  /// `expiration_date`. Only receipts from volume purchases that expire have it.
  public var expirationDate: Int64?
  /// `preorder_date`
  public var preorderDate: Int64?
  /// `in_app`: the purchases in the receipt when it was made, in no defined order. Often empty.
  public var transactions: [ReceiptTransaction]
  /// Fields that this module does not know.
  public var unknownFields: [String: JSONValue]

  /// The environment whose store wrote the receipt, by its type; nil without a type.
  public var environment: StoreEnvironment? { receiptType.map { StoreEnvironment(receiptType: $0) } }

  /// Reads one receipt. Throws if it is no object, or if a known field has an invalid value.
  public init(_ value: JSONValue) throws(ReceiptDecodingError) {
    try self.init(JSONFields(value, path: ""))
  }

  init(_ input: JSONFields) throws(ReceiptDecodingError) {
    var fields = input
    receiptType = try fields.text("receipt_type")
    let (adamID, appItemID) = try (fields.integer("adam_id"), fields.integer("app_item_id"))
    appID = adamID ?? appItemID
    bundleID = try fields.identifier("bundle_id")
    applicationVersion = try fields.text("application_version")
    downloadID = try fields.integer("download_id")
    versionExternalID = try fields.integer("version_external_identifier")
    originalApplicationVersion = try fields.text("original_application_version")
    receiptCreationDate = try fields.date(
      "receipt_creation_date_ms", "receipt_creation_date", "receipt_creation_date_pst")
    requestDate = try fields.date("request_date_ms", "request_date", "request_date_pst")
    originalPurchaseDate = try fields.date(
      "original_purchase_date_ms", "original_purchase_date", "original_purchase_date_pst")
    expirationDate = try fields.date("expiration_date_ms", "expiration_date", "expiration_date_pst")
    preorderDate = try fields.date("preorder_date_ms", "preorder_date", "preorder_date_pst")
    transactions = try fields.objects("in_app", ReceiptTransaction.init)
    unknownFields = try fields.unknown()
  }
}

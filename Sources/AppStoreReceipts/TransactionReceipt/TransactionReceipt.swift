/// The receipt of a single transaction from before the app receipt: `SKPaymentTransaction.transactionReceipt`.
///
/// **No signature is verified here**: it proves nothing on the device. A property list holds `purchase-info`,
/// which is another property list in base64 (StoreFacts a.7). The App Store writes both as NeXTSTEP text; XML
/// and binary lists are read as well.
///
/// Limits: `maximumByteCount` bytes, 256 fields in each list; no recursion; time in proportion to the bytes.
/// An empty text counts as absent. If a field occurs twice, the first counts. Dates are milliseconds since
/// 1970.
public struct TransactionReceipt: Sendable, Hashable {
  /// The longest receipt that is accepted: 1 MiB. Known receipts have 3 KiB.
  public static let maximumByteCount = 1 << 20

  // MARK: the outer list

  /// `environment`; production if it is absent, because only the sandbox writes it (StoreFacts a.7).
  public var environment = StoreEnvironment.production
  /// `signature`, unverified; nil if it is absent or not base64.
  public var signature: [UInt8]?
  /// `pod`: "100" in the sandbox.
  public var pod: String?
  /// `signing-status`: "0".
  public var signingStatus: String?

  // MARK: purchase-info

  /// `transaction-id`
  public var transactionID: String
  /// `original-transaction-id`; the transaction's own id if it is absent.
  public var originalTransactionID: String
  /// `product-id`. Apple's own smallest example has only a transaction id.
  public var productID: String?
  /// `quantity`; 1 if it is absent.
  public var quantity = 1
  /// `bid`, the bundle id.
  public var bundleID: String?
  /// `bvrs`, the version of the bundle.
  public var bundleVersion: String?
  /// `item-id`: the product's number, not the app's.
  public var itemID: String?
  /// `app-item-id`; production only.
  public var appItemID: String?
  /// `version-external-identifier`; production only.
  public var versionExternalID: String?
  /// `unique-identifier` of the device.
  public var uniqueID: String?
  /// `unique-vendor-identifier`: the device's UUID for this vendor.
  public var uniqueVendorID: String?
  /// `web-order-line-item-id`. Only subscriptions have it.
  public var webOrderLineItemID: String?
  /// `purchase-date-ms`, else `purchase-date`; milliseconds since 1970.
  public var purchaseDate: Int64?
  /// `original-purchase-date-ms`, else `original-purchase-date`; milliseconds since 1970.
  public var originalPurchaseDate: Int64?
  /// `expires-date`, milliseconds since 1970. Only subscriptions have it.
  public var expiresDate: Int64?
  /// `cancellation-date-ms`, else `cancellation-date`; milliseconds since 1970.
  public var cancellationDate: Int64?
  /// `cancellation-reason`
  public var cancellationReason: RevocationReason?
  /// `in-app-ownership-type`
  public var ownership: OwnershipType?
  /// `is-trial-period`; written since the 2020s.
  public var isTrialPeriod: Bool?
  /// `is-in-intro-offer-period`; written since the 2020s.
  public var isInIntroOfferPeriod: Bool?
  /// `subscription-group-identifier`; written since the 2020s.
  public var subscriptionGroupID: String?
  /// All other fields of `purchase-info`, including the dates' other spellings such as `purchase-date-pst`.
  public var unknownFields: [ReceiptField] = []
  /// All other fields of the outer list.
  public var unknownOuterFields: [ReceiptField] = []

  /// Creates a first purchase. Set the other properties afterwards.
  package init(transactionID: String) {
    self.transactionID = transactionID
    self.originalTransactionID = transactionID
  }

  /// Decodes the property list, not its base64, **without verifying anything**.
  ///
  /// Throws if a list is damaged, if a number or a date cannot be read, and if `purchase-info` or its
  /// `transaction-id` is missing.
  public init(decoding bytes: [UInt8]) throws(ReceiptDecodingError) {
    guard bytes.count <= Self.maximumByteCount else {
      throw ReceiptDecodingError(
        expected: "at most \(Self.maximumByteCount) bytes, not \(bytes.count)", location: "start",
        reason: .tooLarge)
    }
    var outer = FieldTable(try PropertyList(bytes), part: "the receipt")
    let inner: [UInt8]
    switch outer.value("purchase-info") {
    case .text(let text):
      guard let decoded = Base64Octets.decode(text.utf8) else {
        throw outer.failure("base64", "purchase-info")
      }
      inner = decoded
    case .data(let data): inner = data
    case .other: throw outer.failure("base64", "purchase-info")
    case nil: throw outer.failure("purchase-info", "purchase-info", .missing)
    }
    let part = "purchase-info"
    try self.init(purchaseInfo: FieldTable(try PropertyList(inner, part: part), part: part))
    takeOuter(&outer)
    unknownOuterFields = outer.rest
  }

  private mutating func takeOuter(_ fields: inout FieldTable) {
    if let name = fields.text("environment") { environment = StoreEnvironment(rawValue: name) }
    pod = fields.text("pod")
    signingStatus = fields.text("signing-status")
    switch fields.peek("signature") {
    case .text(let text): signature = Base64Octets.decode(text.utf8)
    case .data(let data): signature = data
    case .other, nil: break
    }
    if signature != nil { _ = fields.value("signature") }
  }

  private init(purchaseInfo: FieldTable) throws(ReceiptDecodingError) {
    var fields = purchaseInfo
    guard let transactionID = fields.text("transaction-id") else {
      throw fields.failure("a transaction id", "transaction-id", .missing)
    }
    self.init(transactionID: transactionID)
    if let original = fields.text("original-transaction-id") { originalTransactionID = original }
    if let value = try fields.integer("quantity") {
      guard let count = Int(exactly: value) else { throw fields.failure("a quantity", "quantity") }
      quantity = count
    }
    productID = fields.text("product-id")
    bundleID = fields.text("bid")
    bundleVersion = fields.text("bvrs")
    itemID = fields.text("item-id")
    appItemID = fields.text("app-item-id")
    versionExternalID = fields.text("version-external-identifier")
    uniqueID = fields.text("unique-identifier")
    uniqueVendorID = fields.text("unique-vendor-identifier")
    webOrderLineItemID = fields.text("web-order-line-item-id")
    purchaseDate = try fields.date(milliseconds: "purchase-date-ms", text: "purchase-date")
    originalPurchaseDate = try fields.date(
      milliseconds: "original-purchase-date-ms", text: "original-purchase-date")
    expiresDate = try fields.date("expires-date")
    cancellationDate = try fields.date(milliseconds: "cancellation-date-ms", text: "cancellation-date")
    cancellationReason = fields.code("cancellation-reason").map(RevocationReason.init)
    ownership = fields.text("in-app-ownership-type").map(OwnershipType.init)
    isTrialPeriod = fields.flag("is-trial-period")
    isInIntroOfferPeriod = fields.flag("is-in-intro-offer-period")
    subscriptionGroupID = fields.text("subscription-group-identifier")
    unknownFields = fields.rest
  }
}

/// The app receipt: the file at `Bundle.appStoreReceiptURL`, a PKCS #7 message around a set of attributes.
///
/// **No signature and no hash is verified here.** The decoded values are what the file says, and anyone who
/// can write the file can change them. Use them to match transactions with orders on the device. The backend
/// decides whether a purchase is genuine.
///
/// Reads DER and BER, with indefinite lengths and strings in pieces, as StoreKit testing in Xcode writes
/// them. Limits: `maximumByteCount` bytes; no recursion; time in proportion to the bytes; each length is
/// compared with the available bytes before it is used; decoding takes at most three times the receipt's
/// bytes and 64 KiB.
///
/// Numbers in brackets are the types of the attributes (StoreFacts b.2; Apple's *Receipt Fields*,
/// https://developer.apple.com/library/archive/releasenotes/General/ValidateAppStoreReceipt/Chapters/ReceiptFields.html).
/// Dates are milliseconds since 1970; an empty date in the receipt becomes nil. If an attribute occurs twice,
/// the first counts; the others are kept in `unknownAttributes`.
public struct AppReceipt: Sendable, Hashable {
  /// The longest receipt that is accepted: 16 MiB. The App Store's own server takes 3 MiB of base64.
  public static let maximumByteCount = 16 << 20

  /// `bundle_id` (2).
  public var bundleID: String
  /// The bytes of attribute 2 with tag and length, as they enter the hash.
  public var bundleIDBytes: [UInt8]
  /// `receipt_type` (0), undocumented: `Production`, `ProductionSandbox`, `ProductionVPP`, `ProductionVPPSandbox`,
  /// `Xcode`; an open set. See `environment`.
  public var receiptType: String?
  /// `adam_id` (1), undocumented; 0 in the sandbox.
  public var appID: Int64?
  /// `application_version` (3): `CFBundleVersion` on iOS, `CFBundleShortVersionString` on macOS.
  public var applicationVersion: String?
  /// (4) Random bytes, as they enter the hash.
  public var opaqueValue: [UInt8]?
  /// (5) The SHA-1 of device identifier, `opaqueValue` and `bundleIDBytes`; not checked here.
  public var sha1Hash: [UInt8]?
  /// `receipt_creation_date` (12), milliseconds since 1970.
  public var receiptCreationDate: Int64?
  /// `download_id` (15), undocumented; beyond 2^53; 0 in the sandbox.
  public var downloadID: Int64?
  /// `version_external_identifier` (16), undocumented; 0 in the sandbox.
  public var versionExternalID: Int64?
  /// `original_purchase_date` of the app itself (18), undocumented; milliseconds since 1970.
  public var originalPurchaseDate: Int64?
  /// `original_application_version` (19); missing in Xcode.
  public var originalApplicationVersion: String?
  /// `expiration_date` (21), milliseconds since 1970; of volume purchases. Xcode writes the year 4001: never.
  public var expirationDate: Int64?
  /// The transactions (17) in the receipt's order, which is not the order of time. A receipt without
  /// transactions is valid. Two transactions with the same id are both in the list.
  public var inApp: [InAppPurchase] = []
  /// All other attributes.
  public var unknownAttributes = ReceiptAttributes()

  /// The environment whose store wrote the receipt, by `receiptType`; nil without one.
  ///
  /// Names that end in `Sandbox` are the sandbox's; other names that begin with `Production` are production's
  /// (StoreFacts b.4). `Xcode` and unknown names stay as they are.
  public var environment: StoreEnvironment? { receiptType.map { StoreEnvironment(receiptType: $0) } }

  /// Creates a receipt with only a bundle id. Set the other properties afterwards.
  package init(bundleID: String, bundleIDBytes: [UInt8] = []) {
    self.bundleID = bundleID
    self.bundleIDBytes = bundleIDBytes
  }

  /// Decodes the bytes of the file, **without verifying anything**. Bytes after the message are ignored.
  ///
  /// Throws if the structure is damaged, if a documented attribute is not of its documented kind, and if the
  /// bundle id, or a purchase's transaction id or product id, is missing or empty.
  public init(decoding bytes: [UInt8]) throws(ReceiptDecodingError) {
    guard bytes.count <= Self.maximumByteCount else {
      throw ReceiptDecodingError(
        expected: "at most \(Self.maximumByteCount) bytes, not \(bytes.count)", location: "start",
        reason: .tooLarge)
    }
    let envelope = try SignedDataEnvelope(bytes)
    var decoder = AppReceiptDecoder(envelope, inputCount: bytes.count)
    self = try decoder.receipt(envelope.range)
  }
}

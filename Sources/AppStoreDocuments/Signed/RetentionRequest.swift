public import AppStoreReceipts

/// The payload of a request of the retention messaging interface: the store asks which message to show to a
/// customer who is about to cancel. **Decoded, not verified**; see `CompactJWS`.
///
/// Names on the wire: DecodedRealtimeRequestBody of Apple's server library. Every field can be absent.
public struct RetentionRequest: Sendable, Hashable {
  /// `originalTransactionId`
  public var originalTransactionID: String?
  /// `appAppleId`
  public var appID: Int64?
  /// `productId`
  public var productID: String?
  /// `userLocale`, or `locale`: a language and a region, such as "en_US".
  public var locale: String?
  /// `requestIdentifier`, a UUID.
  public var requestID: String?
  /// `environment`
  public var environment: StoreEnvironment?
  /// `signedDate`, milliseconds since 1970.
  public var signedDate: Int64?
  /// Fields that this module does not know.
  public var unknownFields: [String: JSONValue]

  /// Decodes the payload of a JWS. Throws if it is no JWS or no JSON object, or if a known field has an
  /// invalid value; the error names the field.
  public init(jws: String) throws(ReceiptDecodingError) {
    try self.init(CompactJWS.payloadFields(of: jws))
  }

  init(_ input: JSONFields) throws(ReceiptDecodingError) {
    var fields = input
    originalTransactionID = try fields.string("originalTransactionId")
    appID = try fields.integer("appAppleId")
    productID = try fields.string("productId")
    let (userLocale, plain) = try (fields.string("userLocale"), fields.string("locale"))
    locale = userLocale ?? plain
    requestID = try fields.string("requestIdentifier")
    environment = try fields.word("environment", as: StoreEnvironment.self)
    signedDate = try fields.milliseconds("signedDate")
    unknownFields = try fields.unknown()
  }
}

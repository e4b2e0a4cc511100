public import AppStoreReceipts

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The payload of a signed app transaction (JWS): it states that this app was downloaded, not by whom.
/// **Decoded, not verified**; see `CompactJWS`.
///
/// Names on the wire: JWSAppTransactionDecodedPayload (StoreFacts c.2). Dates are milliseconds since 1970.
/// Every field can be absent.
public struct SignedAppTransaction: Sendable, Hashable {
  /// `receiptType`: the environment, under another name.
  public var environment: StoreEnvironment?
  /// `appAppleId`
  public var appID: Int64?
  /// `bundleId`
  public var bundleID: String?
  /// `applicationVersion`
  public var applicationVersion: String?
  /// `versionExternalIdentifier`
  public var versionExternalID: Int64?
  /// `receiptCreationDate`
  public var receiptCreationDate: Int64?
  /// `originalPurchaseDate`; Xcode writes a moment of the year 1.
  public var originalPurchaseDate: Int64?
  /// `originalApplicationVersion`; "1.0" in the sandbox.
  public var originalApplicationVersion: String?
  /// `preorderDate`
  public var preorderDate: Int64?
  /// `requestDate`, by Xcode.
  public var requestDate: Int64?
  /// `signedDate`, if the payload has one.
  public var signedDate: Int64?
  /// `appTransactionId`
  public var appTransactionID: String?
  /// `revocationDate`: when the purchase of the app was taken back. Nil as long as it was not.
  public var revocationDate: Int64?
  /// `storeType`: which store the app is from.
  public var storeType: String?
  /// `originalPlatform`
  public var originalPlatform: OriginalPlatform?
  /// `deviceVerification`, base64.
  public var deviceVerification: String?
  /// `deviceVerificationNonce`, a UUID.
  public var deviceVerificationNonce: String?
  /// Fields that this module does not know.
  public var unknownFields: [String: JSONValue]

  /// Decodes the payload of a JWS. Throws if it is no JWS or no JSON object, or if a known field has an
  /// invalid value; the error names the field.
  public init(jws: String) throws(ReceiptDecodingError) {
    try self.init(CompactJWS.payloadFields(of: jws.utf8))
  }

  /// Decodes a payload that was taken out of its JWS. Throws like ``init(jws:)``.
  public init(payload: Data) throws(ReceiptDecodingError) {
    try self.init(CompactJWS.fields(ofPayload: payload))
  }

  init(_ input: JSONFields) throws(ReceiptDecodingError) {
    var fields = input
    // Read from the names of StoreKit's properties (N30): no page of Apple states their form in the payload.
    fields.optional = ["revocationDate", "storeType"]
    environment = try fields.word("receiptType", as: StoreEnvironment.self)
    appID = try fields.integer("appAppleId")
    bundleID = try fields.string("bundleId")
    applicationVersion = try fields.text("applicationVersion")
    versionExternalID = try fields.integer("versionExternalIdentifier")
    receiptCreationDate = try fields.milliseconds("receiptCreationDate")
    originalPurchaseDate = try fields.milliseconds("originalPurchaseDate")
    originalApplicationVersion = try fields.text("originalApplicationVersion")
    preorderDate = try fields.milliseconds("preorderDate")
    requestDate = try fields.milliseconds("requestDate")
    signedDate = try fields.milliseconds("signedDate")
    appTransactionID = try fields.identifier("appTransactionId")
    revocationDate = try fields.milliseconds("revocationDate")
    storeType = try fields.text("storeType")
    originalPlatform = try fields.word("originalPlatform", as: OriginalPlatform.self)
    deviceVerification = try fields.string("deviceVerification")
    deviceVerificationNonce = try fields.string("deviceVerificationNonce")
    unknownFields = try fields.unknown()
  }
}

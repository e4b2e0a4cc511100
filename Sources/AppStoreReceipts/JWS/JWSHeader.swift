#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The header of a signed payload (StoreFacts c.1). It proves nothing: the author of the text wrote it.
public struct JWSHeader: Sendable, Hashable {
  /// `alg`: ES256 from the store. A verifier must require ES256 and ignore this value.
  public var algorithm: String?
  /// `x5c`: DER in base64 (not base64url), the leaf first: 3 certificates from the store, 1 from Xcode.
  public var certificates: [String]
  /// `kid`: `Apple_Xcode_Key` from Xcode. The store stopped sending it in March 2022.
  public var keyID: String?
  /// `typ`: `JWT` from Xcode.
  public var type: String?
  /// Fields that this module does not know.
  public var unknownFields: [String: JSONValue]

  /// Whether the header says that Xcode's StoreKit testing signed: its own key, or a single certificate.
  public var isFromXcode: Bool { keyID == "Apple_Xcode_Key" || certificates.count == 1 }

  /// Reads the JSON of a header. Throws if it is no object, or if a known field is not text.
  public init(json: Data) throws(ReceiptDecodingError) {
    var fields = try JSONFields(json: json, path: "header")
    algorithm = try fields.string("alg")
    certificates = try fields.strings("x5c")
    keyID = try fields.string("kid")
    type = try fields.string("typ")
    unknownFields = try fields.unknown()
  }
}

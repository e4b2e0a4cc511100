#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The header of a signed payload (receipt-facts.md c.1). Whoever made the text wrote it: it proves nothing.
public struct JWSHeader: Sendable, Hashable {
  /// `alg`: ES256 from the store. A verifier must insist on it, and not follow what stands here.
  public var algorithm: String?
  /// `x5c`: base64 (not base64url) of DER, the leaf first: 3 certificates from the store, 1 from Xcode.
  public var certificates: [String]
  /// `kid`: `Apple_Xcode_Key` from Xcode; dropped by the store in March 2022.
  public var keyID: String?
  /// `typ`: `JWT` from Xcode.
  public var type: String?
  /// What this module doesn't know.
  public var unknownFields: [String: JSONValue]

  /// Whether Xcode's StoreKit testing says that it signed: with its own key, or with a single certificate.
  public var isFromXcode: Bool { keyID == "Apple_Xcode_Key" || certificates.count == 1 }

  /// Reads a header's JSON. Throws if it is no object, or a known field has another type than text.
  public init(json: Data) throws(ReceiptDecodingError) {
    var fields = try JSONFields(json: json, path: "header")
    algorithm = try fields.string("alg")
    certificates = try fields.strings("x5c")
    keyID = try fields.string("kid")
    type = try fields.string("typ")
    unknownFields = try fields.unknown()
  }
}

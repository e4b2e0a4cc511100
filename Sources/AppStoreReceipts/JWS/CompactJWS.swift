#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A signed JSON object in compact form, split into its parts. **Nothing is verified here.**
///
/// Verify the signature and the chain of certificates where a purchase is granted: in the backend, with
/// Apple's server library or its own code, against Apple's root certificate. On the device, StoreKit's
/// `VerificationResult` verifies them. Without that, the decoded values prove nothing: anyone can write them.
public struct CompactJWS: Sendable {
  /// The longest text that is accepted: 16 MiB. Known texts have 6 KB.
  public static let maximumByteCount = 16 << 20

  /// The JSON of the header.
  public var header: Data
  /// The JSON of the payload.
  public var payload: Data
  /// The bytes of the signature: 64 from the store; test tools leave it empty.
  public var signature: Data

  /// Splits and decodes the three parts. Throws if there are not three, or one is not base64url.
  public init(_ text: String) throws(ReceiptDecodingError) {
    let parts = try Self.parts(of: text.utf8)
    header = Data(try Self.decode(parts.header, "header"))
    payload = Data(try Self.decode(parts.payload, "payload"))
    signature = Data(try Self.decode(parts.signature, "signature"))
  }

  /// The header's fields. Throws if the header is no JSON object.
  public var decodedHeader: JWSHeader {
    get throws(ReceiptDecodingError) { try JWSHeader(json: header) }
  }

  /// Only the payload's JSON. The other parts are decoded as a check and then released.
  static func payload(of text: some Collection<UInt8>) throws(ReceiptDecodingError) -> [UInt8] {
    let parts = try Self.parts(of: text)
    _ = try decode(parts.header, "header")
    _ = try decode(parts.signature, "signature")
    return try decode(parts.payload, "payload")
  }

  /// The same. An error names the member of another document in which the JWS is, if there is one.
  package static func payload(
    of text: some Collection<UInt8>, in member: String?
  ) throws(ReceiptDecodingError) -> [UInt8] {
    do throws(ReceiptDecodingError) {
      return try payload(of: text)
    } catch {
      throw member.map { error.inside($0) } ?? error
    }
  }

  /// The fields of the payload, of any kind.
  package static func payloadFields(
    of text: some Collection<UInt8>, findings: (any JSONFindings)? = nil
  ) throws(ReceiptDecodingError) -> JSONFields {
    try JSONFields(json: payload(of: text), path: "payload", findings: findings)
  }

  /// The same. A text of usual length is copied first: an array is read much faster.
  package static func payloadFields(of text: String) throws(ReceiptDecodingError) -> JSONFields {
    guard text.utf8.count <= 64 << 10 else { return try payloadFields(of: text.utf8) }
    return try payloadFields(of: Array(text.utf8))
  }

  package static func fields(ofPayload payload: Data) throws(ReceiptDecodingError) -> JSONFields {
    try JSONFields(json: payload, path: "payload")
  }

  private static func parts<Text: Collection<UInt8>>(
    of text: Text
  ) throws(ReceiptDecodingError) -> (
    header: Text.SubSequence, payload: Text.SubSequence, signature: Text.SubSequence
  ) {
    guard text.count <= maximumByteCount else {
      throw .field("start", "at most \(maximumByteCount) bytes, not \(text.count)", reason: .tooLarge)
    }
    let dots = text.count { $0 == UInt8(ascii: ".") }
    guard dots == 2, let first = text.firstIndex(of: UInt8(ascii: ".")) else {
      throw .field(
        "start", "three parts separated by dots, not \(dots + 1)",
        found: text.isEmpty ? "an empty text" : "text that is no JWS")
    }
    let rest = text[text.index(after: first)...]
    guard let second = rest.firstIndex(of: UInt8(ascii: ".")) else {
      throw .field("start", "three parts separated by dots")
    }
    return (text[..<first], rest[..<second], rest[rest.index(after: second)...])
  }

  private static func decode(
    _ part: some Collection<UInt8>, _ name: String
  ) throws(ReceiptDecodingError) -> [UInt8] {
    guard let octets = Base64Octets.decode(part, .url) else {
      let isPadded = part.contains(UInt8(ascii: "="))
      let isPlain = part.contains { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }
      throw .field(
        name, "base64url",
        found: isPadded ? "padding: remove it" : isPlain ? "base64 with + or /: write - and _" : nil)
    }
    return octets
  }
}

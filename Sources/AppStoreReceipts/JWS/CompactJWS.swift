#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A signed JSON object in compact form, taken apart. **Nothing is verified here.**
///
/// The signature and the chain of certificates must be verified where a purchase is granted: by the backend,
/// with Apple's server library or its own, against Apple's root certificate. On the device, StoreKit's
/// `VerificationResult` does it. What is decoded without that proves nothing: anyone can write it.
public struct CompactJWS: Sendable {
  /// The JSON of the header.
  public var header: Data
  /// The JSON of the payload.
  public var payload: Data
  /// The signature's bytes: 64 from the store; tools for tests leave it empty.
  public var signature: Data

  /// Splits and decodes the three parts. Throws if there are not three, or one is not base64url.
  public init(_ text: String) throws(ReceiptDecodingError) {
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3 else {
      throw ReceiptDecodingError(
        expected: "three parts separated by dots, not \(parts.count)", location: "start")
    }
    func decode(_ part: Substring.UTF8View, _ name: String) throws(ReceiptDecodingError) -> Data {
      guard let data = Base64URL.decode(Substring(part)) else {
        throw ReceiptDecodingError(expected: "base64url", location: name)
      }
      return data
    }
    header = try decode(parts[0], "header")
    payload = try decode(parts[1], "payload")
    signature = try decode(parts[2], "signature")
  }

  /// The header's fields. Throws if the header is no JSON object.
  public var decodedHeader: JWSHeader {
    get throws(ReceiptDecodingError) { try JWSHeader(json: header) }
  }

  /// The payload's fields, of whatever kind it is.
  var payloadFields: JSONFields {
    get throws(ReceiptDecodingError) { try Self.fields(ofPayload: payload) }
  }

  static func fields(ofPayload payload: Data) throws(ReceiptDecodingError) -> JSONFields {
    let value: JSONValue
    do throws(ReceiptDecodingError) {
      value = try JSONValue(json: payload)
    } catch {
      throw error.relocated(to: "payload")
    }
    return try JSONFields(value, path: "payload")
  }
}

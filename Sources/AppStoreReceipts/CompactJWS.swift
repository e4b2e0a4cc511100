#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A signed JSON object in compact form, taken apart. **Nothing is verified here**: that is the backend's work.
public struct CompactJWS: Sendable {
  /// The JSON of the header.
  public var header: Data
  /// The JSON of the payload.
  public var payload: Data
  /// The signature's bytes.
  public var signature: Data

  /// Splits and decodes the three parts. Throws if there are not three, or one is not base64url.
  public init(_ text: String) throws(ReceiptDecodingError) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else {
      throw ReceiptDecodingError(
        expected: "three parts separated by dots, not \(parts.count)", location: "start")
    }
    func decode(_ part: Substring, _ name: String) throws(ReceiptDecodingError) -> Data {
      guard let data = Base64URL.decode(part) else {
        throw ReceiptDecodingError(expected: "base64url", location: name)
      }
      return data
    }
    header = try decode(parts[0], "header")
    payload = try decode(parts[1], "payload")
    signature = try decode(parts[2], "signature")
  }
}

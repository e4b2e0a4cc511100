#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// The alphabet of JWS: base64 with `-` and `_`, without padding (RFC 4648 section 5, RFC 7515 section 2).
package enum Base64URL {
  /// Encodes without padding.
  package static func encode(_ data: Data) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity((data.count + 2) / 3 * 4)
    for byte in Array(data.base64EncodedData()) {
      switch byte {
      case UInt8(ascii: "+"): bytes.append(UInt8(ascii: "-"))
      case UInt8(ascii: "/"): bytes.append(UInt8(ascii: "_"))
      case UInt8(ascii: "="): break
      default: bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Decodes; nil if the text has another alphabet or an impossible length.
  package static func decode(_ text: some StringProtocol) -> Data? {
    Base64Octets.decode(text.utf8, .url).map { Data($0) }
  }
}

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The alphabet of JWS: base64 with `-` and `_`, without padding (RFC 4648 section 5, RFC 7515 section 2).
public enum Base64URL {
  /// Encodes without padding.
  public static func encode(_ data: Data) -> String {
    var text = data.base64EncodedString()
    while text.hasSuffix("=") { text.removeLast() }
    return String(text.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
  }

  /// Decodes; nil if the text has another alphabet or an impossible length.
  public static func decode(_ text: some StringProtocol) -> Data? {
    var standard = ""
    standard.reserveCapacity(text.utf8.count + 3)
    for character in text {
      switch character {
      case "-": standard.append("+")
      case "_": standard.append("/")
      case "+", "/", "=": return nil
      default: standard.append(character)
      }
    }
    while !standard.utf8.count.isMultiple(of: 4) { standard.append("=") }
    return Data(base64Encoded: standard)
  }
}

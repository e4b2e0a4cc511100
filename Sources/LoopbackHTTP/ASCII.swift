/// The few byte classes of HTTP's grammar (RFC 9110 5.6, RFC 5234 B.1).
enum ASCII {
  static let tab: UInt8 = 0x09
  static let lineFeed: UInt8 = 0x0A
  static let carriageReturn: UInt8 = 0x0D
  static let space: UInt8 = 0x20
  static let comma = UInt8(ascii: ",")
  static let delete: UInt8 = 0x7F

  static func isDigit(_ byte: UInt8) -> Bool {
    byte &- 0x30 < 10
  }

  static func isBlank(_ byte: UInt8) -> Bool {
    byte == space || byte == tab
  }

  /// A control character that must not occur within a line; the tab is legal white space.
  static func isForbiddenControl(_ byte: UInt8) -> Bool {
    (byte < space && byte != tab) || byte == delete
  }

  /// tchar of RFC 9110 5.6.2.
  static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"): true
    case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"): true
    case UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"): true
    case UInt8(ascii: "."), UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "|"): true
    case UInt8(ascii: "~"): true
    default: false
    }
  }

  static func isToken(_ bytes: some Collection<UInt8>) -> Bool {
    !bytes.isEmpty && bytes.allSatisfy(isTokenByte)
  }

  static func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  static func lowercased(_ byte: UInt8) -> UInt8 {
    byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
  }

  static func equalIgnoringCase(_ left: String, _ right: String) -> Bool {
    equalIgnoringCase(left.utf8, right.utf8)
  }

  static func equalIgnoringCase(
    _ left: some Collection<UInt8>, _ right: some Collection<UInt8>
  ) -> Bool {
    left.count == right.count && zip(left, right).allSatisfy { lowercased($0) == lowercased($1) }
  }

  /// The bytes without the blanks at both ends: OWS of RFC 9110 5.6.3.
  static func trimmed<Bytes: BidirectionalCollection<UInt8>>(_ bytes: Bytes) -> Bytes.SubSequence {
    var rest = bytes[...]
    while let first = rest.first, isBlank(first) { rest = rest.dropFirst() }
    while let last = rest.last, isBlank(last) { rest = rest.dropLast() }
    return rest
  }

  /// The text whose UTF-8 these bytes are, or nil if they are not UTF-8.
  static func text(utf8 bytes: some Collection<UInt8>) -> String? {
    let text = String(decoding: bytes, as: UTF8.self)
    // Decoding repairs what is wrong, so only well-formed input comes back unchanged.
    return text.utf8.elementsEqual(bytes) ? text : nil
  }
}

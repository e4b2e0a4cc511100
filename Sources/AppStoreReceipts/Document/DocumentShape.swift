#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The shape of bytes by their first characters. It decides which decoder reads them.
package enum DocumentShape {
  /// Begins with the tag of a SEQUENCE, which is also the digit 0: no document in base64 begins with that
  /// digit.
  case asn1
  /// NeXTSTEP text, XML or binary.
  case propertyList
  case jsonObject
  case jsonString
  /// Three parts of base64url with dots between, perhaps with line breaks.
  case jws
  case base64

  init(_ bytes: [UInt8]) throws(ReceiptDecodingError) {
    guard let first = bytes.first else {
      throw ReceiptDecodingError(
        expected: "a document", found: "an empty input", location: "start", reason: .missing)
    }
    let text = Self.trim(bytes[...])
    guard let start = text.first else {
      let isZero = bytes.prefix(4_096).allSatisfy { $0 == 0 }
      throw ReceiptDecodingError(
        expected: "a document",
        found: isZero ? "\(bytes.count) bytes of zeros" : "only white space", location: "start",
        reason: .missing)
    }
    if let failure = ForeignFormat.failure(bytes, text) { throw failure }
    switch start {
    case _ where first == 0x30: self = .asn1
    case UInt8(ascii: "{"): self = Self.isPropertyList(text) ? .propertyList : .jsonObject
    case UInt8(ascii: "<"): self = .propertyList
    case _ where text.starts(with: "bplist0".utf8): self = .propertyList
    case UInt8(ascii: "\""): self = .jsonString
    case _ where text.count(where: { $0 == UInt8(ascii: ".") }) == 2: self = .jws
    default: self = .base64
    }
  }

  /// The bytes without leading and trailing white space, byte order mark and NUL, which files and terminals
  /// add.
  func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> { Self.trim(bytes[...]) }

  /// A JWS without the white space that terminals and mails add, also within it.
  func joined(_ bytes: [UInt8]) -> [UInt8] {
    let text = trimmed(bytes)
    return text.contains(where: Self.isSpace) ? text.filter { !Self.isSpace($0) } : Array(text)
  }

  /// Removes the wrapping.
  func unwrap(
    _ bytes: [UInt8]
  ) throws(ReceiptDecodingError) -> (wrapping: DocumentWrapping, bytes: [UInt8]) {
    let text = Self.trim(bytes[...])
    if case .jsonString = self {
      guard let inner = try JSONValue(json: Data(text)).string else {
        throw .field("start", "a string of JSON")
      }
      return (.jsonString, Array(inner.utf8))
    }
    let isURL = text.contains { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    let standard = isURL ? text.map(Self.standard)[...] : text
    guard let inner = Base64Octets.decode(standard), !inner.isEmpty else {
      throw Self.notBase64(text, offset: text.startIndex)
    }
    return (isURL ? .base64URL : .base64, inner)
  }

  /// In a property list, `=` follows the first name; in JSON, a colon does.
  private static func isPropertyList(_ text: ArraySlice<UInt8>) -> Bool {
    var rest = trim(text.dropFirst())
    guard rest.first == UInt8(ascii: "\"") else {
      // A name without quotes is a property list; `}` is an object without members.
      return rest.first.map { $0 != UInt8(ascii: "}") } ?? false
    }
    rest = rest.dropFirst()
    var isEscaped = false
    while let octet = rest.popFirst() {
      if isEscaped {
        isEscaped = false
      } else if octet == UInt8(ascii: "\\") {
        isEscaped = true
      } else if octet == UInt8(ascii: "\"") {
        return trim(rest).first == UInt8(ascii: "=")
      }
    }
    return false
  }

  private static func trim(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var rest = bytes
    if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
    rest = rest.drop { isSpace($0) }
    while let last = rest.last, isSpace(last) { rest.removeLast() }
    return rest
  }

  static func isSpace(_ octet: UInt8) -> Bool {
    octet == 0 || Base64Octets.isSpace(octet)
  }

  private static func standard(_ octet: UInt8) -> UInt8 {
    switch octet {
    case UInt8(ascii: "-"): UInt8(ascii: "+")
    case UInt8(ascii: "_"): UInt8(ascii: "/")
    default: octet
    }
  }

  private static func notBase64(_ text: ArraySlice<UInt8>, offset: Int) -> ReceiptDecodingError {
    let place = text.firstIndex { !Base64Octets.isAllowed($0) } ?? text.endIndex
    let isText = UTF8Check.firstInvalid(in: Array(text.prefix(64).dropLast(3))) == nil
    return ReceiptDecodingError(
      expected: "DER, a property list, a JWS, JSON, or one of these in base64",
      found: place < text.endIndex
        ? ForeignText.words(at: place, in: text)
          ?? (isText ? "text that is none of these" : "bytes that are none of these")
        : isPadded(text) ? "base64 that goes on after its padding" : "base64 that is cut off",
      location: "byte \(place)",
      reason: place == text.endIndex ? .truncated : .malformed, offset: place)
  }

  /// Whether other characters follow a padding.
  private static func isPadded(_ text: ArraySlice<UInt8>) -> Bool {
    let end = text.drop { $0 != UInt8(ascii: "=") }
    return end.contains { $0 != UInt8(ascii: "=") && !isSpace($0) }
  }
}

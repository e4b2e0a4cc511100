#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A JSON value without loss: ids beyond 2^53 and numbers of any size stay exact.
///
/// Stores write numbers of up to 18 digits (`download_id`, StoreFacts a.4), which a reader based on `Double`
/// corrupts. Fields and values that this module does not know are kept in this form, as `unknownFields`.
public enum JSONValue: Sendable, Hashable {
  /// `null`
  case null
  /// `true` or `false`
  case bool(Bool)
  /// A number without fraction and exponent that fits 64 bits.
  case integer(Int64)
  /// Any other number, with its original text: `1697679936049.7297`, `1e3`, `18446744073709551616`.
  case number(String)
  /// Text; it may contain NUL.
  case string(String)
  /// A list.
  case array([JSONValue])
  /// Names and values. Of equal names in the text the last counts, as in Apple's own parser (StoreFacts a.1).
  case object([String: JSONValue])

  /// The most levels of nested arrays and objects. A store's documents have 6.
  public static let maximumDepth = 64

  /// The longest text that every JSON decoder of this module accepts: 16 MiB. The largest known has 170 KB.
  public static let maximumByteCount = 16 << 20

  /// Reads UTF-8 text by RFC 8259, with or without a byte order mark. NULs at its end do not count.
  ///
  /// Throws for any other input: nesting deeper than ``maximumDepth``, bytes that are not UTF-8, half of a
  /// surrogate pair, a control character in a string, text after the value. The error has the offset in bytes
  /// and none of the text. A long text of tiny values is refused: the value takes at most five times the
  /// text's bytes and 9.5 MiB. The decoders of this module build no such value for known fields, and take
  /// less.
  public init(json: Data) throws(ReceiptDecodingError) {
    try JSONReader.checkCount(json.count)
    try self.init(Array(json))
  }

  /// The same, for a string.
  package init(json: String) throws(ReceiptDecodingError) {
    try self.init(Array(json.utf8))
  }

  /// Checks a text as ``init(json:)`` does, and counts its values: itself, items and members. Makes none of them. For
  /// a text that Foundation's decoder reads afterwards, which takes 20 times its bytes if it is all tiny values.
  package static func check(_ bytes: [UInt8], mostValues: Int) throws(ReceiptDecodingError) {
    _ = try JSONReader.check(bytes, mostValues: mostValues)
  }

  private init(_ bytes: [UInt8]) throws(ReceiptDecodingError) {
    let start = try JSONReader.check(bytes)
    var reader = JSONReader(bytes, position: start)
    self = try reader.value(JSONBudget(byteCount: bytes.count, factor: 4))
  }

  /// The value of a name; nil if there is none, or if this is no object.
  public subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members[name]
  }

  /// The text of a string; nil for other values.
  public var string: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  /// The items of an array; nil for other values.
  public var array: [JSONValue]? {
    guard case .array(let items) = self else { return nil }
    return items
  }

  /// Names and values of an object; nil for other values.
  public var object: [String: JSONValue]? {
    guard case .object(let members) = self else { return nil }
    return members
  }

  /// JSON without white space and with sorted names: equal values have equal texts.
  ///
  /// The `/` is not escaped. A ``number(_:)`` whose text is no number is written as null.
  public var text: String {
    var result = ""
    write(to: &result)
    return result
  }

  /// The text as UTF-8.
  public var data: Data { Data(text.utf8) }

  private func write(to result: inout String) {
    switch self {
    case .null: result += "null"
    case .bool(let flag): result += flag ? "true" : "false"
    case .integer(let integer): result += String(integer)
    case .number(let number): result += JSONReader.isNumber(number) ? number : "null"
    case .string(let string): Self.quote(string, to: &result)
    case .array(let items):
      result += "["
      for (index, item) in items.enumerated() {
        if index > 0 { result += "," }
        item.write(to: &result)
      }
      result += "]"
    case .object(let members):
      result += "{"
      for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
        if index > 0 { result += "," }
        Self.quote(member.key, to: &result)
        result += ":"
        member.value.write(to: &result)
      }
      result += "}"
    }
  }

  private static func quote(_ string: String, to result: inout String) {
    result += "\""
    defer { result += "\"" }
    // Nearly every text is written as it is, which is much faster in one piece.
    guard string.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") })
    else {
      result += string
      return
    }
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\u{0}"..<"\u{20}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// An integer.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// `true` or `false`.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSONValue: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
  /// An array.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// An object. Of equal names the last counts.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(Dictionary(elements) { _, last in last })
  }
}

/// Reads a property list of NeXTSTEP, as text: `{ "key" = "value"; … }`.
///
/// Follows Apple's *Old-Style ASCII Property Lists*
/// (https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/PropertyLists/OldStylePlists/OldStylePLists.html):
/// strings with or without quotes, data in angle brackets, comments. A list or dictionary inside is skipped
/// with a counter and kept as its bytes. The last semicolon may be missing.
struct TextPropertyList {
  private var cursor: ByteCursor

  init(_ cursor: ByteCursor) {
    self.cursor = cursor
  }

  mutating func fields() throws(ReceiptDecodingError) -> [ReceiptField] {
    var fields: [ReceiptField] = []
    cursor.skipByteOrderMark()
    try skipSpace()
    guard cursor.skip("{") else { throw cursor.missing("a property list: bplist, < or {") }
    while true {
      try skipSpace()
      if cursor.skip("}") { break }
      guard fields.count < PropertyList.maximumFieldCount else {
        throw cursor.failure("at most \(PropertyList.maximumFieldCount) fields", at: nil, .tooLarge)
      }
      let key = try string("a key")
      try skipSpace()
      guard cursor.skip("=") else { throw cursor.missing("=") }
      try skipSpace()
      fields.append(ReceiptField(key: key, value: try value()))
      try skipSpace()
      guard cursor.skip(";") || cursor.current == UInt8(ascii: "}") else { throw cursor.missing(";") }
    }
    try skipSpace()
    guard cursor.isAtEnd else { throw cursor.failure("nothing after the property list") }
    return fields
  }

  private mutating func skipSpace() throws(ReceiptDecodingError) {
    while true {
      cursor.skipWhiteSpace()
      if cursor.skip("/*") {
        _ = try cursor.skip(through: "*/")
      } else if cursor.skip("//") {
        while let octet = cursor.current, octet != 0x0A, octet != 0x0D { cursor.position += 1 }
      } else {
        return
      }
    }
  }

  private mutating func value() throws(ReceiptDecodingError) -> ReceiptField.Value {
    switch cursor.current {
    case UInt8(ascii: "<"): return .data(try data())
    case UInt8(ascii: "{"), UInt8(ascii: "("): return .other(try container())
    default: return .text(try string("a value"))
    }
  }

  private mutating func string(_ name: String) throws(ReceiptDecodingError) -> String {
    let start = cursor.position
    if let quote = cursor.current, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
      return try quoted(quote)
    }
    while let octet = cursor.current, Self.isBare(octet) { cursor.position += 1 }
    guard cursor.position > start else { throw cursor.missing(name) }
    return try cursor.text(start..<cursor.position)
  }

  /// The characters of a string without quotes.
  private static func isBare(_ octet: UInt8) -> Bool {
    switch octet {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    case UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "."),
      UInt8(ascii: "-"):
      true
    default: false
    }
  }

  private mutating func quoted(_ quote: UInt8) throws(ReceiptDecodingError) -> String {
    let start = cursor.position
    cursor.position += 1
    var hasEscape = false
    // First search the end: if there is no escape, which is usual, the bytes are not copied.
    while let octet = cursor.current, octet != quote {
      hasEscape = hasEscape || octet == UInt8(ascii: "\\")
      cursor.position += octet == UInt8(ascii: "\\") ? 2 : 1
    }
    guard cursor.position < cursor.bytes.count else {
      throw cursor.failure("the end of a string", at: start, .truncated)
    }
    let end = cursor.position
    defer { cursor.position = end + 1 }
    if !hasEscape { return try cursor.text(start + 1..<end) }
    cursor.position = start + 1
    var octets: [UInt8] = []
    octets.reserveCapacity(end - start)
    while cursor.position < end {
      let octet = cursor.bytes[cursor.position]
      cursor.position += 1
      if octet == UInt8(ascii: "\\") {
        try unescape(into: &octets, end: end)
      } else {
        octets.append(octet)
      }
    }
    return try cursor.text(octets, at: start)
  }

  /// Decodes the characters after a backslash.
  private mutating func unescape(into octets: inout [UInt8], end: Int) throws(ReceiptDecodingError) {
    let octet = cursor.bytes[cursor.position]
    switch octet {
    case UInt8(ascii: "a"): octets.append(0x07)
    case UInt8(ascii: "b"): octets.append(0x08)
    case UInt8(ascii: "f"): octets.append(0x0C)
    case UInt8(ascii: "n"): octets.append(0x0A)
    case UInt8(ascii: "r"): octets.append(0x0D)
    case UInt8(ascii: "t"): octets.append(0x09)
    case UInt8(ascii: "v"): octets.append(0x0B)
    case UInt8(ascii: "U"):
      try unicode(into: &octets, end: end)
      return
    case UInt8(ascii: "0")...UInt8(ascii: "7"):
      try octal(into: &octets, end: end)
      return
    default: octets.append(octet)
    }
    cursor.position += 1
  }

  /// `\ooo`: a character of NeXTSTEP's own set. Only its ASCII part is known here.
  private mutating func octal(into octets: inout [UInt8], end: Int) throws(ReceiptDecodingError) {
    let start = cursor.position
    var value: UInt32 = 0
    while cursor.position < min(start + 3, end) {
      let digit = cursor.bytes[cursor.position] &- 0x30
      guard digit < 8 else { break }
      value = value * 8 + UInt32(digit)
      cursor.position += 1
    }
    guard value < 0x80 else { throw cursor.failure("an octal escape of ASCII", at: start) }
    octets.append(UInt8(value))
  }

  /// `\Uhhhh`: a unit of UTF-16. Two of them make a character beyond the first 65,536.
  private mutating func unicode(into octets: inout [UInt8], end: Int) throws(ReceiptDecodingError) {
    let start = cursor.position
    guard var scalar = hexUnit(end: end) else { throw cursor.failure("\\Uhhhh", at: start) }
    if 0xD800...0xDBFF ~= scalar, cursor.position < end, cursor.skip("\\"),
      let low = hexUnit(end: end), 0xDC00...0xDFFF ~= low
    {
      scalar = 0x1_0000 + (scalar - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let character = Unicode.Scalar(scalar) else { throw cursor.failure("a character", at: start) }
    octets.append(contentsOf: UTF8.encode(character)?.map { $0 } ?? [])
  }

  /// `U` and four digits.
  private mutating func hexUnit(end: Int) -> UInt32? {
    guard end - cursor.position >= 5, cursor.bytes[cursor.position] == UInt8(ascii: "U") else { return nil }
    var value: UInt32 = 0
    for octet in cursor.bytes[cursor.position + 1...cursor.position + 4] {
      guard let digit = HexDigit.value(octet) else { return nil }
      value = value << 4 | UInt32(digit)
    }
    cursor.position += 5
    return value
  }

  /// `<0fbd77 1c2735ae>`
  private mutating func data() throws(ReceiptDecodingError) -> [UInt8] {
    let start = cursor.position
    cursor.position += 1
    let range = try cursor.skip(through: ">")
    var octets: [UInt8] = []
    octets.reserveCapacity(range.count / 2)
    var high: UInt8?
    for octet in cursor.bytes[range] where octet != 0x20 && !(0x09...0x0D).contains(octet) {
      guard let digit = HexDigit.value(octet) else { throw cursor.failure("data in hexadecimal", at: start) }
      if let first = high {
        octets.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    guard high == nil else { throw cursor.failure("an even number of digits", at: start) }
    return octets
  }

  /// The bytes of a list or a dictionary. Brackets are counted, but not matched by kind.
  private mutating func container() throws(ReceiptDecodingError) -> [UInt8] {
    let start = cursor.position
    var depth = 0
    repeat {
      try skipSpace()
      guard let octet = cursor.current else {
        throw cursor.failure("the end of a list or dictionary", at: start, .truncated)
      }
      switch octet {
      case UInt8(ascii: "{"), UInt8(ascii: "("): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: ")"): depth -= 1
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        _ = try quoted(octet)
        continue
      default: break
      }
      cursor.position += 1
    } while depth > 0
    return Array(cursor.bytes[start..<cursor.position])
  }
}

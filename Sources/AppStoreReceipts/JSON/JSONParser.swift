/// Reads one JSON text (RFC 8259). Depth is bounded, so recursion is too.
struct JSONParser {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The whole text: one value, white space around it, and nothing else.
  mutating func document() throws(ReceiptDecodingError) -> JSONValue {
    if let offset = UTF8Check.firstInvalid(in: bytes) { throw .notJSON("UTF-8", offset: offset) }
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    let result = try value(depth: 0)
    skipSpace()
    guard position == bytes.count else { throw failure("the end of the JSON text") }
    return result
  }

  /// Whether a text is a number of JSON, from its first to its last byte.
  static func isNumber(_ text: String) -> Bool {
    var parser = JSONParser(Array(text.utf8))
    do throws(ReceiptDecodingError) {
      _ = try parser.number()
      return parser.position == parser.bytes.count
    } catch {
      return false
    }
  }

  private mutating func value(depth: Int) throws(ReceiptDecodingError) -> JSONValue {
    skipSpace()
    switch peek {
    case UInt8(ascii: "{"): return try object(depth: depth + 1)
    case UInt8(ascii: "["): return try array(depth: depth + 1)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "-"), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): return try number()
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: throw failure("a JSON value")
    }
  }

  private mutating func object(depth: Int) throws(ReceiptDecodingError) -> JSONValue {
    try enter(depth)
    var members: [String: JSONValue] = [:]
    if take("}") { return .object(members) }
    repeat {
      skipSpace()
      guard peek == UInt8(ascii: "\"") else { throw failure("a name in quotation marks") }
      let name = try string()
      guard take(":") else { throw failure("a colon") }
      members[name] = try value(depth: depth)
    } while take(",")
    guard take("}") else { throw failure("a comma or a closing brace") }
    return .object(members)
  }

  private mutating func array(depth: Int) throws(ReceiptDecodingError) -> JSONValue {
    try enter(depth)
    var items: [JSONValue] = []
    if take("]") { return .array(items) }
    repeat { items.append(try value(depth: depth)) } while take(",")
    guard take("]") else { throw failure("a comma or a closing bracket") }
    return .array(items)
  }

  private mutating func enter(_ depth: Int) throws(ReceiptDecodingError) {
    guard depth <= JSONValue.maximumDepth else {
      throw failure("at most \(JSONValue.maximumDepth) levels of nesting")
    }
    position += 1
  }

  private mutating func word(_ word: String, _ value: JSONValue) throws(ReceiptDecodingError) -> JSONValue {
    guard bytes[position...].starts(with: word.utf8) else { throw failure("a JSON value") }
    position += word.utf8.count
    return value
  }

  private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  private func failure(_ expected: String) -> ReceiptDecodingError { .notJSON(expected, offset: position) }

  private mutating func skipSpace() {
    while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  /// Takes a mark and the white space before it, if it comes next.
  private mutating func take(_ mark: Unicode.Scalar) -> Bool {
    skipSpace()
    guard peek == UInt8(ascii: mark) else { return false }
    position += 1
    return true
  }
}

// MARK: - Numbers

extension JSONParser {
  fileprivate mutating func number() throws(ReceiptDecodingError) -> JSONValue {
    let start = position
    if peek == UInt8(ascii: "-") { position += 1 }
    if peek == UInt8(ascii: "0") {
      position += 1
    } else {
      try digits()
    }
    var isInteger = true
    if peek == UInt8(ascii: ".") {
      isInteger = false
      position += 1
      try digits()
    }
    if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
      isInteger = false
      position += 1
      if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { position += 1 }
      try digits()
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isInteger, let integer = Int64(text) { return .integer(integer) }
    return .number(text)
  }

  private mutating func digits() throws(ReceiptDecodingError) {
    let start = position
    while let byte = peek, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte { position += 1 }
    guard position > start else { throw failure("a digit") }
  }
}

// MARK: - Strings

extension JSONParser {
  /// The text between two quotation marks. The bytes are known to be UTF-8.
  fileprivate mutating func string() throws(ReceiptDecodingError) -> String {
    position += 1
    var result = ""
    var start = position
    while let byte = peek {
      switch byte {
      case UInt8(ascii: "\""):
        let rest = String(decoding: bytes[start..<position], as: UTF8.self)
        position += 1
        return result.isEmpty ? rest : result + rest
      case UInt8(ascii: "\\"):
        result += String(decoding: bytes[start..<position], as: UTF8.self)
        position += 1
        result.unicodeScalars.append(try escaped())
        start = position
      case 0..<0x20: throw failure("no control character in a string")
      default: position += 1
      }
    }
    throw failure("a closing quotation mark")
  }

  private mutating func escaped() throws(ReceiptDecodingError) -> Unicode.Scalar {
    guard let byte = peek else { throw failure("an escape") }
    let scalar: Unicode.Scalar
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): scalar = Unicode.Scalar(byte)
    case UInt8(ascii: "b"): scalar = "\u{8}"
    case UInt8(ascii: "f"): scalar = "\u{C}"
    case UInt8(ascii: "n"): scalar = "\n"
    case UInt8(ascii: "r"): scalar = "\r"
    case UInt8(ascii: "t"): scalar = "\t"
    case UInt8(ascii: "u"): return try unicodeEscape()
    default: throw failure("an escape")
    }
    position += 1
    return scalar
  }

  /// `uXXXX`, or two of them that are a surrogate pair.
  private mutating func unicodeEscape() throws(ReceiptDecodingError) -> Unicode.Scalar {
    let start = position
    let first = try fourDigits()
    if let scalar = Unicode.Scalar(first) { return scalar }
    if first < 0xDC00, peek == UInt8(ascii: "\\") {
      position += 1
      if peek == UInt8(ascii: "u") {
        let second = try fourDigits()
        if 0xDC00...0xDFFF ~= second,
          let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        {
          return scalar
        }
      }
    }
    throw .notJSON("both halves of a surrogate pair", offset: start)
  }

  private mutating func fourDigits() throws(ReceiptDecodingError) -> UInt32 {
    position += 1
    var result: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = peek, let digit = Self.hexadecimal(byte) else {
        throw failure("four hexadecimal digits")
      }
      result = result << 4 | digit
      position += 1
    }
    return result
  }

  private static func hexadecimal(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a")) + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A")) + 10
    default: nil
    }
  }
}

/// Well-formed UTF-8 (Unicode 15, table 3-7), since decoding in Swift repairs and does not tell.
enum UTF8Check {
  /// The offset of the first byte that is not part of a well-formed sequence.
  static func firstInvalid(in bytes: [UInt8]) -> Int? {
    var index = 0
    while index < bytes.count {
      let lead = bytes[index]
      if lead < 0x80 {
        index += 1
        continue
      }
      guard let shape = shape(of: lead), index + shape.count < bytes.count,
        shape.second ~= bytes[index + 1],
        bytes[(index + 1)...(index + shape.count)].allSatisfy({ 0x80...0xBF ~= $0 })
      else { return index }
      index += 1 + shape.count
    }
    return nil
  }

  /// How many bytes follow a lead byte, and what the first of them may be.
  private static func shape(of lead: UInt8) -> (count: Int, second: ClosedRange<UInt8>)? {
    switch lead {
    case 0xC2...0xDF: (1, 0x80...0xBF)
    case 0xE0: (2, 0xA0...0xBF)
    case 0xED: (2, 0x80...0x9F)
    case 0xE1...0xEF: (2, 0x80...0xBF)
    case 0xF0: (3, 0x90...0xBF)
    case 0xF1...0xF3: (3, 0x80...0xBF)
    case 0xF4: (3, 0x80...0x8F)
    default: nil
    }
  }
}

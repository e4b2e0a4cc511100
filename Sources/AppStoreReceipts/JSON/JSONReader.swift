/// Reads one JSON text (RFC 8259) by offsets. Depth is limited, and so is recursion. It allocates only the
/// values that its caller asks for.
struct JSONReader {
  let bytes: [UInt8]
  private(set) var position: Int
  /// How many values may still be skipped.
  private var valuesLeft: Int

  init(_ bytes: [UInt8], position: Int = 0, mostValues: Int = .max) {
    self.bytes = bytes
    self.position = position
    valuesLeft = mostValues
  }

  /// Checks the whole text against the grammar: one value with white space around it, and nothing else. NULs at
  /// the end do not count: a string of C has one. Returns the offset of the value.
  static func check(_ bytes: [UInt8], mostValues: Int = .max) throws(ReceiptDecodingError) -> Int {
    try checkCount(bytes.count)
    if let offset = UTF8Check.firstInvalid(in: bytes) { throw .notJSON("UTF-8", offset: offset) }
    var reader = JSONReader(bytes, mostValues: mostValues)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.position = 3 }
    reader.skipSpace()
    let start = reader.position
    try reader.skip()
    while reader.take("\0") {}
    guard reader.position == bytes.count else {
      throw .notJSON(
        "the end of the JSON text", offset: reader.position,
        found: reader.isObject ? "another document: decode one at a time" : nil)
    }
    return start
  }

  /// Throws if a text is too long to be read.
  static func checkCount(_ count: Int) throws(ReceiptDecodingError) {
    guard count <= JSONValue.maximumByteCount else {
      throw .field("start", "at most \(JSONValue.maximumByteCount) bytes, not \(count)", reason: .tooLarge)
    }
  }

  /// Whether the whole text is a JSON number.
  static func isNumber(_ text: String) -> Bool {
    var reader = JSONReader(Array(text.utf8))
    do throws(ReceiptDecodingError) {
      _ = try reader.number()
      return reader.position == reader.bytes.count
    } catch {
      return false
    }
  }

  private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  private func failure(_ expected: String) -> ReceiptDecodingError {
    .notJSON(expected, offset: position, reason: position < bytes.count ? .malformed : .truncated)
  }

  private mutating func skipSpace() {
    while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  /// Skips white space, and then the mark if it comes next. Returns whether it did.
  private mutating func take(_ mark: Unicode.Scalar) -> Bool {
    skipSpace()
    guard peek == UInt8(ascii: mark) else { return false }
    position += 1
    return true
  }
}

// MARK: - Values

extension JSONReader {
  // The kind of the value here, by its first byte.
  var isObject: Bool { peek == UInt8(ascii: "{") }
  var isArray: Bool { peek == UInt8(ascii: "[") }
  var isString: Bool { peek == UInt8(ascii: "\"") }

  /// Moves after a value.
  mutating func skip(depth: Int = 0) throws(ReceiptDecodingError) {
    guard valuesLeft > 0 else { throw .notJSON("fewer values", offset: position, reason: .tooLarge) }
    valuesLeft -= 1
    var isFirst = true
    switch peek {
    case UInt8(ascii: "{"):
      try enter(depth + 1)
      while try nextMember(&isFirst) != nil { try skip(depth: depth + 1) }
    case UInt8(ascii: "["):
      try enter(depth + 1)
      while try nextItem(&isFirst) { try skip(depth: depth + 1) }
    case UInt8(ascii: "\""): _ = try string()
    default: _ = try plainValue()
    }
  }

  /// Moves after a value of a text that was checked: only its end is looked for.
  mutating func pass() {
    guard isObject || isArray || isString else {
      while let byte = peek, !Self.endsPlainValue(byte) { position += 1 }
      return
    }
    var index = position
    var depth = 0
    var isInString = false
    repeat {
      let byte = bytes[index]
      index += 1
      switch byte {
      case UInt8(ascii: "\""): isInString.toggle()
      case UInt8(ascii: "\\"): index += 1
      case _ where isInString: break
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
    } while depth > 0 || isInString
    position = index
  }

  private static func endsPlainValue(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), 0...0x20: true
    default: false
    }
  }

  /// The value here. Afterwards the position is after it. An object or array is returned empty, and the
  /// position does not change.
  mutating func shallowValue() throws(ReceiptDecodingError) -> JSONValue {
    if isObject { return [:] }
    if isArray { return [] }
    if isString { return .string(try text(try string())) }
    return try plainValue()
  }

  /// The value with all its content, charged before it is allocated.
  mutating func value(
    depth: Int = 0, _ budget: JSONBudget
  ) throws(ReceiptDecodingError) -> JSONValue {
    let start = position
    var isFirst = true
    switch peek {
    case UInt8(ascii: "{"):
      try enter(depth + 1)
      try budget.charge(JSONBudget.container, at: start)
      var members: [String: JSONValue] = [:]
      while let name = try nextMember(&isFirst) {
        try budget.charge(JSONBudget.member, at: start)
        let key = try budget.name(try text(name), at: start)
        members[key] = try value(depth: depth + 1, budget)
      }
      return .object(members)
    case UInt8(ascii: "["):
      try enter(depth + 1)
      try budget.charge(JSONBudget.container, at: start)
      var items: [JSONValue] = []
      while try nextItem(&isFirst) {
        try budget.charge(JSONBudget.item, at: start)
        items.append(try value(depth: depth + 1, budget))
      }
      return .array(items)
    case UInt8(ascii: "\""):
      let range = try string()
      try budget.charge(JSONBudget.text(range.count), at: start)
      return .string(try text(range))
    default:
      let value = try plainValue()
      if case .number(let text) = value { try budget.charge(JSONBudget.text(text.utf8.count), at: start) }
      return value
    }
  }

  /// A number, `true`, `false` or `null`.
  private mutating func plainValue() throws(ReceiptDecodingError) -> JSONValue {
    switch peek {
    case UInt8(ascii: "-"), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): try number()
    case UInt8(ascii: "t"): try word("true", .bool(true))
    case UInt8(ascii: "f"): try word("false", .bool(false))
    case UInt8(ascii: "n"): try word("null", .null)
    default: throw failure("a JSON value")
    }
  }

  private mutating func word(_ word: StaticString, _ value: JSONValue) throws(ReceiptDecodingError)
    -> JSONValue
  {
    for expected in word.description.utf8 {
      guard peek == expected else { throw failure(word.description) }
      position += 1
    }
    return value
  }

  private mutating func number() throws(ReceiptDecodingError) -> JSONValue {
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
    // A number of 64 bits has at most 19 digits and a sign. A longer text is not parsed again.
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isInteger, position - start <= 20, let integer = Int64(text) { return .integer(integer) }
    return .number(text)
  }

  private mutating func digits() throws(ReceiptDecodingError) {
    let start = position
    while let byte = peek, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte { position += 1 }
    guard position > start else { throw failure("a digit") }
  }
}

// MARK: - Containers

extension JSONReader {
  /// Moves after an opening bracket.
  mutating func enter(_ depth: Int = 1) throws(ReceiptDecodingError) {
    guard depth <= JSONValue.maximumDepth else {
      throw .notJSON(
        "at most \(JSONValue.maximumDepth) levels of nesting", offset: position, reason: .tooDeep)
    }
    position += 1
  }

  /// The content of the next member's name; the position is then at its value. Nil after the last member; the
  /// position is then after the brace. Set `isFirst` to true before the first call, and do not change it
  /// afterwards.
  mutating func nextMember(_ isFirst: inout Bool) throws(ReceiptDecodingError) -> Range<Int>? {
    if try isEnd("}", &isFirst, "a comma or a closing brace") { return nil }
    guard isString else { throw failure("a name in quotation marks") }
    let name = try string()
    guard take(":") else { throw failure("a colon") }
    skipSpace()
    return name
  }

  /// Whether there is another item. If so, the position is at the item; otherwise it is after the bracket.
  mutating func nextItem(_ isFirst: inout Bool) throws(ReceiptDecodingError) -> Bool {
    try !isEnd("]", &isFirst, "a comma or a closing bracket")
  }

  private mutating func isEnd(
    _ mark: Unicode.Scalar, _ isFirst: inout Bool, _ expected: StaticString
  ) throws(ReceiptDecodingError) -> Bool {
    if take(mark) { return true }
    if !isFirst, !take(",") { throw failure(expected.description) }
    isFirst = false
    skipSpace()
    return false
  }
}

// MARK: - Strings

extension JSONReader {
  /// The bytes between two quotation marks. They were checked to be UTF-8.
  mutating func string() throws(ReceiptDecodingError) -> Range<Int> {
    let start = position + 1
    // Nearly all bytes of a document pass here. A local index is kept in a register, a member is not.
    var index = start
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: "\"") {
        position = index + 1
        return start..<index
      }
      index += 1
      if byte == UInt8(ascii: "\\") {
        position = index
        _ = try escaped()
        index = position
      } else if byte < 0x20 {
        position = index - 1
        throw failure("no control character in a string")
      }
    }
    position = index
    throw failure("a closing quotation mark")
  }

  /// The unescaped text of a string's bytes.
  func text(_ range: Range<Int>) throws(ReceiptDecodingError) -> String {
    guard bytes[range].contains(UInt8(ascii: "\\")) else {
      return String(decoding: bytes[range], as: UTF8.self)
    }
    var result = ""
    result.reserveCapacity(range.count)
    var reader = JSONReader(bytes, position: range.lowerBound)
    while reader.position < range.upperBound {
      let start = reader.position
      while reader.position < range.upperBound, bytes[reader.position] != UInt8(ascii: "\\") {
        reader.position += 1
      }
      result += String(decoding: bytes[start..<reader.position], as: UTF8.self)
      guard reader.position < range.upperBound else { break }
      reader.position += 1
      result.unicodeScalars.append(try reader.escaped())
    }
    return result
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

  /// `uXXXX`, or two of them as a surrogate pair.
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
      guard let byte = peek, let digit = HexDigit.value(byte) else {
        throw failure("four hexadecimal digits")
      }
      result = result << 4 | UInt32(digit)
      position += 1
    }
    return result
  }
}

/// The members of one object, taken one after the other; what nobody took is unknown, and kept.
///
/// Stores write one and the same field as a number, a string or a boolean (receipt-facts.md, pitfall 20;
/// R4.3), so the readers take each form that means the same. Null, and an empty string where a value is
/// expected, are absence. What can't mean the value is an error with the field's path: a cancellation date
/// that is silently absent would be a refund that nobody sees.
struct JSONFields {
  private var members: [String: JSONValue]
  /// Where the object is: "latest_receipt_info[3]". Empty for the outermost.
  let path: String

  init(_ value: JSONValue, path: String) throws(ReceiptDecodingError) {
    guard case .object(let members) = value else {
      throw .field(path.isEmpty ? "start" : path, "an object")
    }
    self.members = members
    self.path = path
  }

  /// What was not taken.
  var unknown: [String: JSONValue] { members }

  func peek(_ name: String) -> JSONValue? { members[name] }

  func has(_ name: String) -> Bool { members[name] != nil }

  func path(of name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

  /// The value, unless it is null.
  mutating func take(_ name: String) -> JSONValue? {
    let value = members.removeValue(forKey: name)
    return value == .null ? nil : value
  }

  /// A string, or a number with all of its digits.
  mutating func text(_ name: String) throws(ReceiptDecodingError) -> String? {
    switch take(name) {
    case nil: return nil
    case .string(let text): return text
    case .integer(let integer): return String(integer)
    case .number(let number): return number
    default: throw .field(path(of: name), "text")
    }
  }

  /// ``text(_:)`` of which the empty one is absent: ids, and names of products.
  mutating func identifier(_ name: String) throws(ReceiptDecodingError) -> String? {
    guard let text = try text(name), !text.isEmpty else { return nil }
    return text
  }

  /// A string and nothing else, as in signed payloads.
  mutating func string(_ name: String) throws(ReceiptDecodingError) -> String? {
    switch take(name) {
    case nil: return nil
    case .string(let text): return text
    default: throw .field(path(of: name), "a string")
    }
  }

  /// An open set of names.
  mutating func word<Word: RawRepresentable>(_ name: String, as: Word.Type) throws(ReceiptDecodingError)
    -> Word? where Word.RawValue == String
  {
    guard let text = try text(name), !text.isEmpty else { return nil }
    return Word(rawValue: text)
  }

  /// An open set of numbers, in either form.
  mutating func code<Code: RawRepresentable>(_ name: String, as: Code.Type) throws(ReceiptDecodingError)
    -> Code? where Code.RawValue == Int
  {
    guard let integer = try integer(name) else { return nil }
    guard let value = Int(exactly: integer) else { throw .field(path(of: name), "a number of this machine") }
    return Code(rawValue: value)
  }

  /// 0 or 1, "0" or "1", "false" or "true": the three encodings of one field (receipt-facts.md, 'Same thing,
  /// different spelling'); and whatever number comes later.
  mutating func renewStatus(_ name: String) throws(ReceiptDecodingError) -> AutoRenewStatus? {
    switch members[name] {
    case .string("true"), .string("false"): try flag(name) == true ? .on : .off
    default: try code(name, as: AutoRenewStatus.self)
    }
  }

  /// A whole number, or a string of one.
  mutating func integer(_ name: String) throws(ReceiptDecodingError) -> Int64? {
    guard let value = take(name), value != .string("") else { return nil }
    switch value {
    case .integer(let integer): return integer
    case .bool(let flag): return flag ? 1 : 0
    case .string(let text), .number(let text): if let integer = Int64(text) { return integer }
    default: break
    }
    throw .field(path(of: name), "a whole number of 64 bits")
  }

  /// A number of things.
  mutating func count(_ name: String) throws(ReceiptDecodingError) -> Int? {
    guard let integer = try integer(name) else { return nil }
    guard let count = Int(exactly: integer) else { throw .field(path(of: name), "a number of this machine") }
    return count
  }

  /// `true`, 1, "1", "true", and their opposites: all of them occur (receipt-facts.md, 'Same thing, different
  /// spelling').
  mutating func flag(_ name: String) throws(ReceiptDecodingError) -> Bool? {
    switch take(name) {
    case nil, .string(""): return nil
    case .bool(let flag): return flag
    case .integer(0), .string("0"), .string("false"): return false
    case .integer(1), .string("1"), .string("true"): return true
    default: throw .field(path(of: name), "a yes or no")
    }
  }

  /// Milliseconds as a JSON number; Xcode's fraction is cut off (receipt-facts.md c.2).
  mutating func milliseconds(_ name: String) throws(ReceiptDecodingError) -> Int64? {
    guard let value = take(name) else { return nil }
    if case .string = value { throw .field(path(of: name), "milliseconds since 1970, a number") }
    guard let result = Self.milliseconds(value) else {
      throw .field(path(of: name), "milliseconds since 1970 within 64 bits")
    }
    return result
  }

  /// The first of several spellings of one moment that can be read. All of them count as known.
  mutating func date(_ names: String...) throws(ReceiptDecodingError) -> Int64? {
    var unreadable: String?
    var result: Int64?
    for name in names {
      guard let value = take(name), value != .string("") else { continue }
      if result == nil { result = Self.milliseconds(value) }
      if result == nil, unreadable == nil { unreadable = name }
    }
    if result == nil, let unreadable {
      throw .field(path(of: unreadable), "a date: milliseconds, or a text with a known time zone")
    }
    return result
  }

  private static func milliseconds(_ value: JSONValue) -> Int64? {
    switch value {
    case .integer(let integer): return integer
    case .number(let number):
      // Longer ones are no date, and slow to read.
      guard number.utf8.count <= 64, let double = Double(number) else { return nil }
      return Int64(exactly: double.rounded(.towardZero))
    case .string(let text): return Int64(text) ?? DateText.milliseconds(text)
    default: return nil
    }
  }

  /// The objects of an array; one object counts as an array of one (receipt-facts.md, pitfall 18).
  mutating func objects(_ name: String) throws(ReceiptDecodingError) -> [JSONFields] {
    let items: [JSONValue]
    switch take(name) {
    case nil: return []
    case .array(let array): items = array
    case .some(let value): return [try JSONFields(value, path: path(of: name))]
    }
    var result: [JSONFields] = []
    result.reserveCapacity(items.count)
    for (index, item) in items.enumerated() {
      result.append(try JSONFields(item, path: "\(path(of: name))[\(index)]"))
    }
    return result
  }

  /// One object.
  mutating func object(_ name: String) throws(ReceiptDecodingError) -> JSONFields? {
    guard let value = take(name) else { return nil }
    return try JSONFields(value, path: path(of: name))
  }

  /// An array of strings.
  mutating func strings(_ name: String) throws(ReceiptDecodingError) -> [String] {
    guard let value = take(name) else { return [] }
    guard case .array(let items) = value else { throw .field(path(of: name), "an array of strings") }
    var result: [String] = []
    for (index, item) in items.enumerated() {
      guard case .string(let text) = item else { throw .field("\(path(of: name))[\(index)]", "a string") }
      result.append(text)
    }
    return result
  }

  /// The value of a field that must be there.
  func required<Value>(_ value: Value?, _ name: String) throws(ReceiptDecodingError) -> Value {
    guard let value else { throw .field(path(of: name), "a value") }
    return value
  }
}

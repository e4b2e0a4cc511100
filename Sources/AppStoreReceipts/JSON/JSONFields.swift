#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// The members of one object, taken one after the other. Members that were not taken are unknown, and kept.
///
/// They are read in place: an object costs a few offsets while it is read. The results, models with their
/// strings and the unknown fields, are charged before they are allocated. The copy of the text and the
/// results together take at most three times the text's bytes and the allowance, whatever the text is.
///
/// Stores write the same field as a number, a string or a boolean (StoreFacts pitfall 20; R4.3), so the
/// readers accept each form with the same meaning. Null counts as absent, and so does an empty string where a
/// value is expected. A value of any other form is an error with the field's path: if an unreadable
/// cancellation date counted as absent, a refund would go unnoticed.
package struct JSONFields {
  /// Objects with more members are refused. The store's largest object has 60.
  static let maximumMemberCount = 1_024

  private struct Member {
    /// The range between its quotation marks.
    var name: Range<Int>
    var value: Int
    var isTaken = false
    /// Whether its value was unreadable and is kept with the unknown ones.
    var isKept = false
  }

  let source: JSONSource
  private var members: [Member] = []
  /// The unescaped names that have escapes and may be known ones, by their place. Nearly always empty.
  private var unescaped: [Int: String] = [:]
  /// The marks of all names: an object has few of the known ones, and one look tells it of most others.
  private var marks: UInt64 = 0
  /// Whether an unreadable field is named in the source's findings and counts as absent. Entries of lists are
  /// never read so: without its date of cancellation, a refunded purchase would look paid.
  package private(set) var isLenient = false
  /// The fields that decide nothing about a purchase, such as its price. An unreadable one counts as absent, is kept
  /// among the unknown fields, and is named in the findings: a genuine purchase is not refused for it.
  package var optional: Set<String> = []
  /// The place of the object, or of the array of which it is an item; empty for the outermost object.
  private let place: String
  /// Its number in the array; nil if it is no item. The path is made for errors only: a long list has many items.
  private let number: Int?

  /// Reads a text that is an object. `path` also names the text in error locations. With findings it reads
  /// leniently.
  package init(
    json: [UInt8], path: String = "", findings: (any JSONFindings)? = nil
  ) throws(ReceiptDecodingError) {
    let source = try JSONSource(json, part: path, findings: findings)
    try self.init(source, at: source.start, path: path, isLenient: findings != nil)
  }

  /// The same, for data. Data that is too large is refused before it is copied.
  package init(json: Data, path: String = "") throws(ReceiptDecodingError) {
    try JSONReader.checkCount(json.count)
    try self.init(json: Array(json), path: path)
  }

  /// Reads a value that is an object, through its text.
  package init(_ value: JSONValue, path: String) throws(ReceiptDecodingError) {
    let source = try JSONSource(Array(value.data), part: "")
    try self.init(source, at: source.start, path: path)
  }

  init(
    _ source: JSONSource, at offset: Int, path place: String, number: Int? = nil, isLenient: Bool = false
  ) throws(ReceiptDecodingError) {
    self.source = source
    self.place = place
    self.number = number
    self.isLenient = isLenient
    var reader = JSONReader(source.bytes, position: offset)
    guard reader.isObject else {
      throw .field(path.isEmpty ? "start" : path, "an object", found: reader.found)
    }
    try reader.enter()
    var isFirst = true
    while let name = try reader.nextMember(&isFirst) {
      guard members.count < Self.maximumMemberCount else {
        throw .field(
          path.isEmpty ? "start" : path, "at most \(Self.maximumMemberCount) members", reason: .tooLarge)
      }
      if Self.mayBeKnown(name, reader) {
        unescaped[members.count] = try reader.text(name)
        marks = .max
      } else if let last = reader.bytes[name].last {
        marks |= Self.mark(name.count, last)
      }
      members.append(Member(name: name, value: reader.position))
      reader.pass()
    }
  }

  /// The same members, read strictly.
  package var strict: JSONFields {
    var copy = self
    copy.isLenient = false
    return copy
  }

  /// Where a lenient reader names what it leaves out; nil for a strict one.
  package var findings: (any JSONFindings)? { source.findings }

  /// Names the members that were not taken in the findings of a lenient reader.
  package func nameUnknown() throws(ReceiptDecodingError) {
    guard let findings = source.findings else { return }
    for member in members where !member.isTaken {
      findings.takeUnknown(try JSONReader(source.bytes).text(member.name), in: path)
    }
  }

  /// The members that were not taken, and the unreadable ones of ``optional``. A lenient reader names the former,
  /// unless the caller did.
  package func unknown(areNamed: Bool = false) throws(ReceiptDecodingError) -> [String: JSONValue] {
    if !areNamed { try nameUnknown() }
    var result: [String: JSONValue] = [:]
    for member in members where !member.isTaken || member.isKept {
      let name = try JSONReader(source.bytes).text(member.name)
      try source.charge(JSONBudget.member + JSONBudget.container + name.utf8.count, for: path)
      result[name] = try source.value(at: member.value)
    }
    return result
  }

  /// The place of the object, such as "latest_receipt_info[3]"; empty for the outermost object.
  var path: String { number.map { "\(place)[\($0)]" } ?? place }

  package func path(of name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

  package func has(_ name: String) -> Bool { index(of: name) != nil }

  var isEmpty: Bool { members.isEmpty }

  /// Of equal names the last counts, as in Apple's own parser (StoreFacts a.1).
  private func index(of name: String) -> Int? {
    guard mayHave(name) else { return nil }
    let (bytes, count) = (source.bytes, name.utf8.count)
    return members.indices.last { isNamed($0, name, count, bytes) }
  }

  /// False if no member has this name.
  private func mayHave(_ name: String) -> Bool {
    name.utf8.last.map { marks & Self.mark(name.utf8.count, $0) != 0 } ?? true
  }

  /// One of 64 bits for a name, by its length and its last byte.
  private static func mark(_ count: Int, _ last: UInt8) -> UInt64 { 1 << ((5 * count + Int(last)) & 63) }

  private func isNamed(_ index: Int, _ name: String, _ count: Int, _ bytes: [UInt8]) -> Bool {
    if !unescaped.isEmpty, let text = unescaped[index] { return text == name }
    return members[index].name.count == count && bytes[members[index].name].elementsEqual(name.utf8)
  }

  /// Escapes make a name up to six times as long; no known name has more than 48 letters.
  private static func mayBeKnown(_ name: Range<Int>, _ reader: JSONReader) -> Bool {
    name.count <= 6 * 48 && reader.bytes[name].contains(UInt8(ascii: "\\"))
  }

  /// Marks all members with this name as taken. Returns the offset of the last one's value, unless it is
  /// null.
  package mutating func offset(_ name: String) -> Int? {
    guard mayHave(name) else { return nil }
    let (bytes, count) = (source.bytes, name.utf8.count)
    var last: Int?
    for index in members.indices where isNamed(index, name, count, bytes) {
      members[index].isTaken = true
      last = index
    }
    guard let last else { return nil }
    let offset = members[last].value
    return source.bytes[offset] == UInt8(ascii: "n") ? nil : offset
  }

  /// Keeps the unreadable value of a field among the unknown ones.
  mutating func keep(_ name: String) {
    if let index = index(of: name) { members[index].isKept = true }
  }

  /// Takes the value, unless it is null. An object or array is returned empty.
  mutating func take(_ name: String) throws(ReceiptDecodingError) -> JSONValue? {
    guard let offset = offset(name) else { return nil }
    var reader = JSONReader(source.bytes, position: offset)
    return try reader.shallowValue()
  }
}

// MARK: - Text

extension JSONFields {
  /// Takes a string, or a number with all of its digits.
  package mutating func text(_ name: String) throws(ReceiptDecodingError) -> String? {
    switch try take(name) {
    case nil: return nil
    case .string(let text), .number(let text): return try charged(text)
    case .integer(let integer): return try charged(String(integer))
    case .some(let other): return try refused(name, "text", other)
    }
  }

  /// Takes an id, or the name of a product: text, or a whole number with all of its digits. Another number has a
  /// sign, a fraction or an exponent: software that read it as a `Double` wrote it, and digits may be lost. An
  /// empty text counts as absent.
  package mutating func identifier(_ name: String) throws(ReceiptDecodingError) -> String? {
    let expected = "text, or a whole number without a sign"
    switch try take(name) {
    case nil, .string(""): return nil
    case .string(let text): return try charged(text)
    case .integer(let integer) where integer >= 0: return try charged(String(integer))
    case .number(let text) where text.utf8.allSatisfy { 0x30...0x39 ~= $0 }: return try charged(text)
    case .integer, .number:
      return try refused(name, expected, found: "a number with a sign, a fraction or an exponent")
    case .some(let other): return try refused(name, expected, other)
    }
  }

  /// Takes a string only, as in signed payloads.
  package mutating func string(_ name: String) throws(ReceiptDecodingError) -> String? {
    switch try take(name) {
    case nil: return nil
    case .string(let text): return try charged(text)
    case .some(let other): return try refused(name, "a string", other)
    }
  }

  private func charged(_ text: String) throws(ReceiptDecodingError) -> String {
    try source.charge(JSONBudget.text(text.utf8.count), for: path)
    return text
  }

  /// Takes a word of an open set.
  package mutating func word<Word: RawRepresentable>(_ name: String, as: Word.Type)
    throws(ReceiptDecodingError)
    -> Word? where Word.RawValue == String
  {
    guard let text = try identifier(name) else { return nil }
    return Word(rawValue: text)
  }

  /// Takes an array of strings.
  package mutating func strings(_ name: String) throws(ReceiptDecodingError) -> [String] {
    try items(name, "an array of strings") { (item) throws(ReceiptDecodingError) in
      guard let text = try item.string() else { throw .field(item.path, "a string") }
      return text
    }
  }
}

// MARK: - Numbers

extension JSONFields {
  /// Takes a whole number, or a string with one. A server in between may have written the number with a
  /// fraction of zeros, or an exponent. Such a number is refused from 2^53 on, because digits would be lost.
  package mutating func integer(_ name: String) throws(ReceiptDecodingError) -> Int64? {
    guard let value = try take(name), value != .string("") else { return nil }
    switch value {
    case .integer(let integer): return integer
    case .bool(let flag): return flag ? 1 : 0
    case .string(let text): if let integer = Int64(text) { return integer }
    case .number(let text):
      if text.utf8.count <= 64, let double = Double(text), let integer = Int64(exactly: double),
        integer.magnitude < 1 << 53
      {
        return integer
      }
      return try refused(
        name, "a whole number of 64 bits", found: "a number with a fraction or an exponent, or beyond 64 bits"
      )
    default: break
    }
    return try refused(name, "a whole number of 64 bits", value)
  }

  /// Takes how many units were bought. No purchase has a negative number of them.
  package mutating func quantity(_ name: String) throws(ReceiptDecodingError) -> Int? {
    guard let count = try count(name) else { return nil }
    return count >= 0 ? count : try refused(name, "a quantity", found: "a negative number")
  }

  /// Takes a share of the price in thousandths of a percent.
  mutating func share(_ name: String) throws(ReceiptDecodingError) -> Int64? {
    guard let share = try integer(name) else { return nil }
    guard 0...100_000 ~= share else {
      return try refused(name, "a share of 0 to 100,000", found: "a number outside of it")
    }
    return share
  }

  /// Takes a count.
  package mutating func count(_ name: String) throws(ReceiptDecodingError) -> Int? {
    guard let integer = try integer(name) else { return nil }
    guard let count = Int(exactly: integer) else {
      return try refused(name, "a number that fits Int", .integer(integer))
    }
    return count
  }

  /// Takes a number of an open set, in either form.
  package mutating func code<Code: RawRepresentable>(_ name: String, as: Code.Type)
    throws(ReceiptDecodingError)
    -> Code? where Code.RawValue == Int
  {
    guard let value = try count(name) else { return nil }
    return Code(rawValue: value)
  }

  /// Takes `true`, 1, "1", "true", or the opposites: all of them occur (StoreFacts 'Same thing, different
  /// spelling').
  package mutating func flag(_ name: String) throws(ReceiptDecodingError) -> Bool? {
    switch try take(name) {
    case nil, .string(""): return nil
    case .bool(let flag): return flag
    case .integer(0), .string("0"), .string("false"): return false
    case .integer(1), .string("1"), .string("true"): return true
    case .some(let other): return try refused(name, "true or false", other)
    }
  }

  /// Returns a value without taking it.
  package func peek(_ name: String) throws(ReceiptDecodingError) -> JSONValue? {
    var copy = self
    return try copy.take(name)
  }
}

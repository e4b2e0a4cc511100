/// Fields of a property list, to be taken one by one; those that nobody takes are left over.
///
/// The first of a key counts. Looked through from the start each time: there are 256 at most.
struct FieldTable {
  private var fields: [ReceiptField]
  /// What offsets and keys are said to be in.
  private let part: String

  init(_ list: PropertyList, part: String) {
    fields = list.fields
    self.part = part
  }

  /// The fields that were not taken, in their order.
  var rest: [ReceiptField] { fields }

  func failure(
    _ expected: String, _ key: String, _ reason: ReceiptDecodingError.Reason = .malformed
  ) -> ReceiptDecodingError {
    ReceiptDecodingError(expected: expected, location: "\(key) in \(part)", reason: reason)
  }

  /// Looks at a value and leaves it.
  func peek(_ key: String) -> ReceiptField.Value? { fields.first { $0.key == key }?.value }

  /// Takes a value of any kind.
  mutating func value(_ key: String) -> ReceiptField.Value? {
    guard let index = fields.firstIndex(where: { $0.key == key }) else { return nil }
    return fields.remove(at: index).value
  }

  /// Takes a text; another kind of value stays. An empty one is nil: there is nothing.
  mutating func text(_ key: String) -> String? {
    guard let index = fields.firstIndex(where: { $0.key == key }), case .text(let text) = fields[index].value
    else { return nil }
    fields.remove(at: index)
    return text.isEmpty ? nil : text
  }

  /// Takes a whole number.
  mutating func integer(_ key: String) throws(ReceiptDecodingError) -> Int64? {
    guard let text = text(key) else { return nil }
    guard let value = Int64(text) else { throw failure("a whole number of 64 bits", key) }
    return value
  }

  /// Takes a small number; what is none stays.
  mutating func code(_ key: String) -> Int? {
    guard case .text(let text) = peek(key), let value = Int(text) else { return nil }
    _ = self.value(key)
    return value
  }

  /// Takes a truth value; another word than these stays.
  mutating func flag(_ key: String) -> Bool? {
    guard let index = fields.firstIndex(where: { $0.key == key }) else { return nil }
    let value: Bool
    switch fields[index].value {
    case .text("true"), .text("1"): value = true
    case .text("false"), .text("0"): value = false
    default: return nil
    }
    fields.remove(at: index)
    return value
  }

  /// Takes milliseconds since 1970, or a date's text (receipt-facts, a.7: all digits are milliseconds).
  mutating func date(_ key: String) throws(ReceiptDecodingError) -> Int64? {
    guard let text = text(key) else { return nil }
    let date =
      Int64(text) ?? StoreDate.milliseconds(text, .internet) ?? StoreDate.milliseconds(text, .greenwich)
    guard let date else { throw failure("milliseconds since 1970, or a date", key) }
    return date
  }

  /// Takes the milliseconds that stand beside a date's text; the text itself only where there are none.
  mutating func date(milliseconds: String, text: String) throws(ReceiptDecodingError) -> Int64? {
    if let date = try integer(milliseconds) { return date }
    return try date(text)
  }
}

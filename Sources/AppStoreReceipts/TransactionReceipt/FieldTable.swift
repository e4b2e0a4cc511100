/// Fields of a property list, taken one by one. Fields that were not taken are left over.
///
/// The first field with a key counts. Each access searches from the start: there are 256 fields at most.
struct FieldTable {
  private var fields: [ReceiptField]
  /// The name of the list in error locations.
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

  /// Returns a value without taking it.
  func peek(_ key: String) -> ReceiptField.Value? { fields.first { $0.key == key }?.value }

  /// Takes a value of any kind.
  mutating func value(_ key: String) -> ReceiptField.Value? {
    guard let index = fields.firstIndex(where: { $0.key == key }) else { return nil }
    return fields.remove(at: index).value
  }

  /// Takes a text; another kind of value stays. An empty text gives nil.
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

  /// Takes a small number; another text stays.
  mutating func code(_ key: String) -> Int? {
    guard case .text(let text) = peek(key), let value = Int(text) else { return nil }
    _ = self.value(key)
    return value
  }

  /// Takes a truth value; another word stays.
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

  /// Takes milliseconds since 1970, or a date as text (StoreFacts a.7: digits alone are milliseconds).
  mutating func date(_ key: String) throws(ReceiptDecodingError) -> Int64? {
    guard let text = text(key) else { return nil }
    let date =
      Int64(text) ?? StoreDate.milliseconds(text, .internet) ?? StoreDate.milliseconds(text, .greenwich)
    guard let date else { throw failure("milliseconds since 1970, or a date", key) }
    return date
  }

  /// Takes the field with milliseconds. Without one, takes the field with a date as text.
  mutating func date(milliseconds: String, text: String) throws(ReceiptDecodingError) -> Int64? {
    if let date = try integer(milliseconds) { return date }
    return try date(text)
  }
}

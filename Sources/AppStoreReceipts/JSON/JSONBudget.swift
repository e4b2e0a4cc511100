/// What a text's values may still take in memory, shared by all that read it.
///
/// The estimates are those of the standard library on a machine of 64 bits, rounded up: an array or dictionary that
/// grows holds its old storage beside the new one for a moment.
final class JSONBudget {
  /// An array or a dictionary without anything in it.
  static let container = 64
  /// An item of an array that grows.
  static let item = 3 * MemoryLayout<JSONValue>.stride
  /// A member of a dictionary that grows, of which up to three eighths are in use.
  static let member = 3 * (MemoryLayout<String>.stride + MemoryLayout<JSONValue>.stride)
  /// So much is there for any text, so that small ones are never refused.
  static let allowance = 256 << 10

  private let factor: Int
  private var remaining: Int
  /// Long names, which repeat in every object of a list.
  private var names: Set<String> = []

  /// So many times the bytes of a text.
  init(byteCount: Int, factor: Int) {
    self.factor = factor
    remaining = factor * byteCount + Self.allowance
  }

  /// What an error says.
  var expected: String { "values that take at most \(factor) times the text's bytes in memory" }

  /// A string of so many bytes; up to 15 lie in the value itself.
  static func text(_ count: Int) -> Int { count > 15 ? count + 48 : 0 }

  /// Takes as much, if it is there.
  func takes(_ count: Int) -> Bool {
    guard count <= remaining else { return false }
    remaining -= count
    return true
  }

  /// Takes as much, or throws; nothing has been allocated then.
  func charge(_ count: Int, at offset: Int) throws(ReceiptDecodingError) {
    guard takes(count) else { throw .notJSON(expected, offset: offset, reason: .tooLarge) }
  }

  /// The same name as one string, however often it comes.
  func name(_ name: String, at offset: Int) throws(ReceiptDecodingError) -> String {
    guard name.utf8.count > 15 else { return name }
    if let index = names.firstIndex(of: name) { return names[index] }
    try charge(Self.text(name.utf8.count) + 64, at: offset)
    names.insert(name)
    return name
  }
}

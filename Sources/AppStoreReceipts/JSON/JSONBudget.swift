/// The memory that the values of a JSON text may still take, shared by all its readers.
///
/// The estimates are the standard library's sizes on a 64-bit machine, rounded up: a growing array or
/// dictionary holds its old storage next to the new one for a moment.
package final class JSONBudget {
  /// An empty array or dictionary.
  static let container = 64
  /// An item of a growing array.
  static let item = 3 * MemoryLayout<JSONValue>.stride
  /// A member of a growing dictionary, of which up to three eighths are in use.
  static let member = 3 * (MemoryLayout<String>.stride + MemoryLayout<JSONValue>.stride)
  /// Added for every text, 9.5 MiB, so that small texts are never refused: a text of 140 KB that is nothing but
  /// brackets takes 68 times its bytes, and 320 KB of `{"a":1}` take 32 times theirs.
  static let allowance = 19 << 19

  private let factor: Int
  private var remaining: Int
  /// Long names: they repeat in every object of a list.
  private var names: Set<String> = []

  /// Allows `factor` times the bytes of a text, and the allowance.
  init(byteCount: Int, factor: Int) {
    self.factor = factor
    remaining = factor * byteCount + Self.allowance
  }

  /// The expectation in an error.
  var expected: String { "values that take at most \(factor) times the text's bytes in memory" }

  /// The memory of a string of `count` bytes. Up to 15 bytes are stored in the value itself.
  package static func text(_ count: Int) -> Int { count > 15 ? count + 48 : 0 }

  /// Takes the memory and returns true; returns false if not enough is left.
  func takes(_ count: Int) -> Bool {
    guard count <= remaining else { return false }
    remaining -= count
    return true
  }

  /// Takes the memory, or throws before anything is allocated.
  func charge(_ count: Int, at offset: Int) throws(ReceiptDecodingError) {
    guard takes(count) else { throw .notJSON(expected, offset: offset, reason: .tooLarge) }
  }

  /// Returns equal names as one shared string.
  func name(_ name: String, at offset: Int) throws(ReceiptDecodingError) -> String {
    guard name.utf8.count > 15 else { return name }
    if let index = names.firstIndex(of: name) { return names[index] }
    try charge(Self.text(name.utf8.count) + 64, at: offset)
    names.insert(name)
    return name
  }
}

/// A JSON text that was held against the grammar, for the time in which its fields are read.
final class JSONSource {
  let bytes: [UInt8]
  let budget: JSONBudget
  /// What offsets count in, if it is not all that the caller gave: "payload".
  let part: String
  /// The offset of the text's value.
  let start: Int

  init(_ bytes: [UInt8], part: String) throws(ReceiptDecodingError) {
    do throws(ReceiptDecodingError) {
      start = try JSONReader.check(bytes)
    } catch {
      throw part.isEmpty ? error : error.relocated(to: part)
    }
    self.bytes = bytes
    self.part = part
    budget = JSONBudget(byteCount: bytes.count, factor: 2)
  }

  /// The value at an offset with all that is in it.
  func value(at offset: Int) throws(ReceiptDecodingError) -> JSONValue {
    var reader = JSONReader(bytes, position: offset)
    do throws(ReceiptDecodingError) {
      return try reader.value(budget)
    } catch {
      throw part.isEmpty ? error : error.relocated(to: part)
    }
  }

  /// Throws if what is to be made for that place takes more than what is left.
  func charge(_ count: Int, for path: String) throws(ReceiptDecodingError) {
    guard budget.takes(count) else {
      throw .field(path.isEmpty ? "start" : path, budget.expected, reason: .tooLarge)
    }
  }
}

/// A JSON text that was checked against the grammar, kept while its fields are read.
final class JSONSource {
  let bytes: [UInt8]
  let budget: JSONBudget
  /// The name of the text in error locations, such as "payload"; empty if it is the caller's whole input.
  let part: String
  /// The offset of the text's value.
  let start: Int
  /// Where a lenient reader names what it leaves out; nil for a strict reader.
  let findings: (any JSONFindings)?

  init(
    _ bytes: [UInt8], part: String, findings: (any JSONFindings)? = nil
  ) throws(ReceiptDecodingError) {
    self.findings = findings
    do throws(ReceiptDecodingError) {
      start = try JSONReader.check(bytes)
    } catch {
      throw part.isEmpty ? error : error.relocated(to: part)
    }
    self.bytes = bytes
    self.part = part
    budget = JSONBudget(byteCount: bytes.count, factor: 2)
  }

  /// The value at an offset with all its content.
  func value(at offset: Int) throws(ReceiptDecodingError) -> JSONValue {
    var reader = JSONReader(bytes, position: offset)
    do throws(ReceiptDecodingError) {
      return try reader.value(budget)
    } catch {
      throw part.isEmpty ? error : error.relocated(to: part)
    }
  }

  /// Throws if the values made for a place take more memory than is left.
  func charge(_ count: Int, for path: @autoclosure () -> String) throws(ReceiptDecodingError) {
    guard budget.takes(count) else {
      let path = path()
      throw .field(path.isEmpty ? "start" : path, budget.expected, reason: .tooLarge)
    }
  }
}

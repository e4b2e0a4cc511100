/// Recognises what people hand over in place of a document, so that the error says what it is and what to do.
enum ForeignFormat {
  /// The error for bytes that are surely no document; nil for any other. `text` is the bytes without white space
  /// around them. It reads at most a few hundred bytes, and all of them only if they may be a JWS.
  static func failure(_ bytes: [UInt8], _ text: ArraySlice<UInt8>) -> ReceiptDecodingError? {
    if isUTF16(bytes) { return failure("UTF-8", "UTF-16 text: convert it to UTF-8", 0) }
    if let name = binaryFormat(bytes) { return failure(documents, name, 0) }
    guard let first = text.first else { return nil }
    let start = text.startIndex
    if let words = ForeignText.words(text) { return failure(documents, words, start) }
    switch first {
    case UInt8(ascii: "-") where text.starts(with: "-----BEGIN".utf8):
      return failure(documents, "PEM: remove the lines BEGIN and END, and decode what is between", start)
    case UInt8(ascii: "<") where isHTML(text):
      return failure(documents, "an HTML page, as a proxy or a failing server sends it", start)
    case UInt8(ascii: "["): return arrayFailure(text)
    case UInt8(ascii: "{"): return objectFailure(text)
    case _ where isScalar(text):
      return failure("a JSON object or another document", "a JSON number, true, false or null", start)
    default: return partsFailure(text)
    }
  }

  private static let documents = "DER, a property list, a JWS, JSON, or one of these in base64"

  private static func failure(_ expected: String, _ found: String, _ offset: Int) -> ReceiptDecodingError {
    ReceiptDecodingError(expected: expected, found: found, location: "byte \(offset)", offset: offset)
  }

  private static func isUTF16(_ bytes: [UInt8]) -> Bool {
    if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) { return true }
    guard bytes.count >= 4 else { return false }
    let isText = { (octet: UInt8) in 0x20..<0x7F ~= octet || octet == 0x0A || octet == 0x0D }
    return (bytes[1] == 0 && bytes[3] == 0 && isText(bytes[0]) && isText(bytes[2]))
      || (bytes[0] == 0 && bytes[2] == 0 && isText(bytes[1]) && isText(bytes[3]))
  }

  private static func binaryFormat(_ bytes: [UInt8]) -> String? {
    if bytes.starts(with: [0x1F, 0x8B]) { return "a gzip file: unpack it" }
    if bytes.starts(with: [0x50, 0x4B, 0x03, 0x04]) { return "a ZIP file: unpack it" }
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) { return "a PNG image" }
    if bytes.starts(with: "SQLite format 3".utf8) { return "an SQLite database: `inspect` reads a queue" }
    return nil
  }

  /// A property list begins with `<?xml`, `<plist` or `<!DOCTYPE plist`.
  private static func isHTML(_ text: ArraySlice<UInt8>) -> Bool {
    let head = String(decoding: text.prefix(512), as: UTF8.self).lowercased()
    return ["<!doctype html", "<html", "<head", "<body", "<title", "<h1"].contains { head.hasPrefix($0) }
      || (head.hasPrefix("<?xml") || head.hasPrefix("<!--")) && head.utf8.count > 5
        && !head.contains("plist") && head.contains("<html")
  }

  private static func arrayFailure(_ text: ArraySlice<UInt8>) -> ReceiptDecodingError {
    do throws(ReceiptDecodingError) {
      _ = try JSONReader.check(Array(text))
    } catch {
      return error
    }
    let item = text.dropFirst().drop(while: DocumentShape.isSpace).first
    let isNumbers = item.map { 0x30...0x39 ~= $0 } ?? false
    return failure(
      "a JSON object or another document",
      isNumbers ? "a JSON array of numbers: convert them to bytes" : "a JSON array: decode one of its items",
      text.startIndex)
  }

  /// Objects as Python and JavaScript print them. In a property list, `=` follows the first name.
  private static func objectFailure(_ text: ArraySlice<UInt8>) -> ReceiptDecodingError? {
    let rest = text.dropFirst().drop(while: DocumentShape.isSpace)
    guard let first = rest.first else { return nil }
    let expected = "JSON, with names in double quotes"
    if first == UInt8(ascii: "'") {
      return failure(expected, "single quotes, as Python prints a dictionary", rest.startIndex)
    }
    let name = rest.prefix(128).prefix { isLetter($0) || $0 == UInt8(ascii: "-") }
    let next = rest[name.endIndex...].prefix(128).drop(while: DocumentShape.isSpace).first
    guard !name.isEmpty, next == UInt8(ascii: ":") else { return nil }
    return failure(expected, "a name without quotes", rest.startIndex)
  }

  private static func isScalar(_ text: ArraySlice<UInt8>) -> Bool {
    guard text.count <= 64 else { return false }
    let word = String(decoding: text, as: UTF8.self)
    return ["true", "false", "null"].contains(word) || JSONReader.isNumber(word)
  }

  /// A JWS with too few or too many parts.
  private static func partsFailure(_ text: ArraySlice<UInt8>) -> ReceiptDecodingError? {
    guard let dot = text.firstIndex(of: UInt8(ascii: ".")) else { return nil }
    let dots = text.count { $0 == UInt8(ascii: ".") }
    guard dots != 2, dots < 8, text.allSatisfy({ isLetter($0) || isPunctuation($0) }) else { return nil }
    return failure("a JWS: three parts separated by dots", "\(dots + 1) parts", dot)
  }

  private static func isLetter(_ octet: UInt8) -> Bool {
    switch octet | 0x20 {
    case UInt8(ascii: "a")...UInt8(ascii: "z"): true
    default: 0x30...0x39 ~= octet || octet == UInt8(ascii: "_")
    }
  }

  private static func isPunctuation(_ octet: UInt8) -> Bool {
    octet == UInt8(ascii: ".") || octet == UInt8(ascii: "-") || DocumentShape.isSpace(octet)
  }
}

/// Recognises the encodings and frames that programs put around a document: an HTTP client, a command line, a log
/// viewer, a database, a debugger. The words say what it is, and what to do.
enum ForeignText {
  /// What the text is, in words; nil if it is none of these. `text` has no white space around it. Reads a few hundred
  /// bytes.
  static func words(_ text: ArraySlice<UInt8>) -> String? {
    if let word = printedWord(text) { return word }
    if isHex(text) { return "hexadecimal digits: convert them to bytes" }
    let start = String(decoding: text.prefix(64), as: UTF8.self)
    for (prefix, words) in prefixes where start.hasPrefix(prefix) { return words }
    if isHexDump(text) { return "a dump in hexadecimal digits: convert it to bytes" }
    if endsWithDots(text) { return "text that a log viewer has cut: it ends in dots" }
    return isFormField(text) ? "a field of a form: decode what follows the =" : nil
  }

  /// What a byte that cannot be in base64 says about the text, in words; nil if nothing.
  static func words(at place: Int, in text: ArraySlice<UInt8>) -> String? {
    let next = text[place...].dropFirst().prefix(2)
    switch text[place] {
    case UInt8(ascii: "%") where next.count == 2 && next.allSatisfy { HexDigit.value($0) != nil }:
      return "percent-encoded text, as in a URL or a form: decode it first"
    case UInt8(ascii: "&"): return "entities of HTML, or several fields of a form: decode them first"
    case UInt8(ascii: "\\"): return "escapes of a string: remove the backslashes"
    default: return nil
    }
  }

  /// The first space that stands in place of `+` in base64, which is where the decoder of a form leaves one; nil if
  /// the text is no base64 with spaces between its characters.
  static func firstLostPlus(_ text: ArraySlice<UInt8>) -> Int? {
    let isBetween = { (index: Int) in
      index > text.startIndex && index + 1 < text.endIndex && !Base64Octets.isSpace(text[index - 1])
        && !Base64Octets.isSpace(text[index + 1])
    }
    guard text.allSatisfy(Base64Octets.isAllowed) else { return nil }
    return text.indices.first { text[$0] == 0x20 && isBetween($0) }
  }

  private static let prefixes = [
    ("\\x", "the bytes of a database, with a backslash: convert its digits to bytes"),
    ("data:", "a data URL: decode what follows the comma"),
    ("HTTP/", "an answer of HTTP: decode its body"), ("POST ", "a request of HTTP: decode its body"),
    ("{\\\"", "JSON with escaped quotation marks, as in a string: remove the backslashes"),
    ("{&quot;", "JSON with entities of HTML: decode them first"),
    ("{&#34;", "JSON with entities of HTML: decode them first"),
    ("&lt;", "XML with entities of HTML: decode them first"),
    ("{length =", "the description of Data, which leaves bytes out: write it in base64"),
    ("{\"type\":\"Buffer\"", "a Buffer of JavaScript: convert its numbers to bytes"),
    ("Optional(", "a printed Optional: decode what is between its quotation marks"),
    ("b'", "bytes as Python prints them: decode what is between the quotation marks"),
    ("b\"", "bytes as Python prints them: decode what is between the quotation marks"),
    ("'", "text in single quotes: remove them"),
    ("[object", "an object as JavaScript prints it: write it as JSON"),
  ]

  /// A missing value, as programs print it.
  private static func printedWord(_ text: ArraySlice<UInt8>) -> String? {
    guard text.count <= 16 else { return nil }
    let word = String(decoding: text, as: UTF8.self)
    return ["nil", "(null)", "NULL", "None", "undefined", "NaN", "<null>", "<nil>"].contains(word)
      ? "the word \(word), as a program prints a missing value" : nil
  }

  /// The digits of bytes that begin like a document. As base64 such text would be none.
  private static func isHex(_ text: ArraySlice<UInt8>) -> Bool {
    var rest = text.prefix(256)
    for prefix in ["0x", "0X", "\\x", "x'", "X'", "<"] where rest.starts(with: prefix.utf8) {
      rest = rest.dropFirst(prefix.utf8.count)
      break
    }
    if text.count <= 256 { rest = rest.prefix { $0 != UInt8(ascii: "'") && $0 != UInt8(ascii: ">") } }
    var digits: [UInt8] = []
    for octet in rest where !DocumentShape.isSpace(octet) && octet != UInt8(ascii: ":") {
      guard let digit = HexDigit.value(octet) else { return false }
      digits.append(digit)
    }
    guard digits.count >= 16 else { return false }
    let bytes = stride(from: 0, to: 12, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    switch bytes[0] {
    case 0x30: return 0x80...0x84 ~= bytes[1] || bytes[2] == DERTag.objectIdentifier
    // Base64 of a SEQUENCE.
    case UInt8(ascii: "M"): return 0x41...0x5A ~= bytes[1]
    default: break
    }
    return ["{", "[", "<", "\"", "\u{FEFF}", "bplist", "ey", "ew", "TU", "PD"].contains {
      bytes.starts(with: $0.utf8)
    }
  }

  /// `00000000: 7b22 7374`, as `xxd` and `hexdump` print.
  private static func isHexDump(_ text: ArraySlice<UInt8>) -> Bool {
    let zeros = text.prefix { $0 == UInt8(ascii: "0") }
    guard 7...8 ~= zeros.count else { return false }
    let next = text[zeros.endIndex...].first
    return next == UInt8(ascii: ":") || next == 0x20
  }

  private static func endsWithDots(_ text: ArraySlice<UInt8>) -> Bool {
    // Binary documents may end in these bytes too.
    text.count > 3 && text.prefix(64).allSatisfy { 0x20..<0x7F ~= $0 || DocumentShape.isSpace($0) }
      && (text.suffix(3).elementsEqual("...".utf8) || text.suffix(3).elementsEqual("…".utf8))
  }

  /// `receipt-data=MII…`: a name, and a value that begins with no further `=`.
  private static func isFormField(_ text: ArraySlice<UInt8>) -> Bool {
    let name = text.prefix(64).prefix { isLetter($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    let rest = text[name.endIndex...]
    return !name.isEmpty && rest.count > 2 && rest.first == UInt8(ascii: "=")
      && rest.dropFirst().first != UInt8(ascii: "=")
  }

  private static func isLetter(_ octet: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(octet | 0x20)
  }
}

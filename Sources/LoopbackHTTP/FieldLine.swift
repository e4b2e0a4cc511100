/// One header or trailer field, RFC 9112 5.
enum FieldLine {
  static func parse(_ line: ArraySlice<UInt8>) throws(ParseFailure) -> (name: String, value: String) {
    // RFC 9112 5.2: a server must refuse a folded line or unfold it. Current clients send none.
    if let first = line.first, ASCII.isBlank(first) { throw ParseFailure(400, "folded header line") }
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
      throw ParseFailure(400, "header line without a colon")
    }
    // RFC 9112 5.1: white space before the colon must be refused; it is no token byte either.
    guard ASCII.isToken(line[..<colon]) else { throw ParseFailure(400, "the header name is not a token") }
    let value = ASCII.trimmed(line[colon...].dropFirst())
    // RFC 9110 5.5: CR, LF and NUL are dangerous, other controls invalid.
    guard !value.contains(where: ASCII.isForbiddenControl) else {
      throw ParseFailure(400, "control character in a header value")
    }
    return (String(decoding: line[..<colon], as: UTF8.self), text(value))
  }

  /// RFC 9110 5.5: bytes above ASCII have no known meaning. UTF-8 if they are that, else Latin-1,
  /// which every sequence of bytes is.
  private static func text(_ value: ArraySlice<UInt8>) -> String {
    if let text = ASCII.text(utf8: value) { return text }
    return String(String.UnicodeScalarView(value.map { Unicode.Scalar($0) }))
  }
}

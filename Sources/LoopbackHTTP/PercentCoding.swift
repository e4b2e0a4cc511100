/// Percent-encoding of RFC 3986 2.1.
enum PercentCoding {
  /// The text that `bytes` encode. Refuses broken escapes, anything but UTF-8, and NUL, which would
  /// end the text early for the C code that it reaches.
  static func decode(_ bytes: ArraySlice<UInt8>) throws(ParseFailure) -> String {
    guard bytes.contains(UInt8(ascii: "%")) else { return String(decoding: bytes, as: UTF8.self) }
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var rest = bytes
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        decoded.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(ASCII.hexValue),
        let low = rest.popFirst().flatMap(ASCII.hexValue)
      else { throw ParseFailure(400, "broken percent-encoding in the request target") }
      decoded.append(high << 4 | low)
    }
    guard !decoded.contains(0) else { throw ParseFailure(400, "NUL in the request target") }
    guard let text = ASCII.text(utf8: decoded) else {
      throw ParseFailure(400, "the request target does not decode to UTF-8")
    }
    return text
  }
}

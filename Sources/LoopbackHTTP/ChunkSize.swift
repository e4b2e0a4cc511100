/// The line before each chunk, RFC 9112 7.1: the size in hex, then perhaps extensions.
struct ChunkSize: Equatable {
  var bytes = 0
  var extensionBytes = 0

  init(_ line: ArraySlice<UInt8>) throws(ParseFailure) {
    let digits = line.prefix { ASCII.hexValue($0) != nil }
    // Leading zeros would be legal; 15 digits are more than any body and cannot overflow an Int.
    guard (1...15).contains(digits.count) else { throw ParseFailure(400, "bad chunk size") }
    for digit in digits { bytes = bytes << 4 | Int(ASCII.hexValue(digit) ?? 0) }
    // RFC 9112 7.1.1: unknown extensions are ignored; white space may come before the semicolon.
    let rest = line[digits.endIndex...]
    let extensions = rest.drop(while: ASCII.isBlank)
    guard extensions.first.map({ $0 == UInt8(ascii: ";") }) ?? rest.isEmpty,
      !rest.contains(where: ASCII.isForbiddenControl)
    else { throw ParseFailure(400, "bad chunk extension") }
    extensionBytes = rest.count
  }
}

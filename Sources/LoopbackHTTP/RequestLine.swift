/// The first line of a request, RFC 9112 3: method, target and version, one space between.
struct RequestLine: Equatable {
  var method = ""
  var target = RequestTarget()
  /// The 1 of HTTP/1.1.
  var minorVersion = 1

  init() {}

  init(_ line: ArraySlice<UInt8>, targetLimit: Int) throws(ParseFailure) {
    let parts = line.split(separator: ASCII.space, omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[1].isEmpty else {
      throw ParseFailure(400, "the request line does not have exactly three parts")
    }
    // RFC 9110 9.1: any token may be a method; whether it is known is the handler's business.
    guard ASCII.isToken(parts[0]) else { throw ParseFailure(400, "the method is not a token") }
    minorVersion = try RequestLine.minorVersion(parts[2])
    method = String(decoding: parts[0], as: UTF8.self)
    // RFC 9112 3: a target longer than the server wants to parse gets 414.
    guard parts[1].count <= targetLimit else { throw ParseFailure(414, "the request target is too long") }
    target = try RequestTarget(parts[1], method: method)
  }

  /// RFC 9112 2.3: "HTTP/", a digit, a dot, a digit; case matters.
  private static func minorVersion(_ bytes: ArraySlice<UInt8>) throws(ParseFailure) -> Int {
    let digits = Array(bytes.dropFirst(5))
    guard bytes.starts(with: "HTTP/".utf8), digits.count == 3, ASCII.isDigit(digits[0]),
      digits[1] == UInt8(ascii: "."), ASCII.isDigit(digits[2])
    else { throw ParseFailure(400, "the request line does not end in an HTTP version") }
    // RFC 9110 15.6.6. The preface of HTTP/2 (RFC 9113 3.4) ends here too.
    guard digits[0] == UInt8(ascii: "1") else { throw ParseFailure(505, "only HTTP/1.1 and HTTP/1.0") }
    return Int(digits[2] - UInt8(ascii: "0"))
  }
}

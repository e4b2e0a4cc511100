/// How the end of a request's body is found, RFC 9112 6.3.
enum BodyFraming: Equatable {
  case length(Int)
  case chunked

  init(_ headers: HTTPHeaders, minorVersion: Int, limit: Int) throws(ParseFailure) {
    let lengths = headers.values(of: "Content-Length")
    let codings = headers.values(of: "Transfer-Encoding")
    guard codings.isEmpty else {
      // RFC 9112 6.1: 1.0 has no transfer codings, and such a message's framing is not to be trusted.
      guard minorVersion >= 1 else { throw ParseFailure(400, "Transfer-Encoding in an HTTP/1.0 request") }
      // RFC 9112 6.3 (3): both together are what request smuggling looks like.
      guard lengths.isEmpty else {
        throw ParseFailure(400, "both Transfer-Encoding and Content-Length")
      }
      // RFC 9112 6.1: a coding that the server does not understand gets 501.
      guard codings.count == 1, ASCII.equalIgnoringCase(codings[0], "chunked") else {
        throw ParseFailure(501, "the only transfer coding supported is chunked")
      }
      self = .chunked
      return
    }
    // RFC 9112 6.3 (7): neither means no body.
    guard let text = lengths.first else {
      self = .length(0)
      return
    }
    // RFC 9112 6.3 (5): several lengths must be refused unless they agree; here always.
    guard lengths.count == 1 else { throw ParseFailure(400, "more than one Content-Length") }
    // RFC 9110 8.6: digits only, so neither signs nor lists; and one must expect overflow.
    guard !text.isEmpty, text.utf8.allSatisfy(ASCII.isDigit), let length = Int(text) else {
      throw ParseFailure(400, "Content-Length is not a number of bytes")
    }
    // RFC 9110 15.5.14, before a byte of it is stored.
    guard length <= limit else { throw ParseFailure(413, "the body is longer than this server takes") }
    self = .length(length)
  }
}

import LoopbackHTTP
import Testing

struct MalformedRequestTests {
  struct Case: CustomTestStringConvertible {
    let testDescription: String
    let text: String
    let status: Int

    init(_ description: String, _ text: String, _ status: Int) {
      testDescription = description
      self.text = text
      self.status = status
    }
  }

  static func head(_ fields: String) -> String { "POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n" }

  static let lines = [
    Case("two parts", "GET /\r\n\r\n", 400),
    Case("four parts", "GET / a HTTP/1.1\r\n\r\n", 400),
    Case("two spaces", "GET  / HTTP/1.1\r\n\r\n", 400),
    Case("empty target", "GET  HTTP/1.1\r\n\r\n", 400),
    Case("leading space", " GET / HTTP/1.1\r\n\r\n", 400),
    Case("method is no token", "G@T / HTTP/1.1\r\n\r\n", 400),
    Case("TLS client hello", "\u{16}\u{3}\u{1}", 400),
    Case("lower-case version", "GET / http/1.1\r\n\r\n", 400),
    Case("version of one digit", "GET / HTTP/1\r\n\r\n", 400),
    Case("version of three digits", "GET / HTTP/1.10\r\n\r\n", 400),
    Case("HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    Case("HTTP/2.0", "GET / HTTP/2.0\r\n\r\n", 505),
    Case("HTTP/0.9", "GET / HTTP/0.9\r\n\r\n", 505),
    Case("bare LF", "GET / HTTP/1.1\nHost: a\n\n", 400),
    Case("bare CR", "GET / HTTP/1.1\rHost: a\r\n\r\n", 400),
    Case("fragment", "GET /#a HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    Case("raw UTF-8 in the target", "GET /é HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    Case("NUL in the target", "GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    Case("encoded NUL", "GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    Case("broken escape", "GET /%4 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    Case("escape without hex", "GET /?a=%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    Case("escapes that are not UTF-8", "GET /%FF HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    Case("no leading slash", "GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    Case("empty authority", "GET http:///a HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    Case("foreign scheme", "GET ftp://h/a HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    Case("asterisk", "GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    Case("CONNECT", "CONNECT h:1 HTTP/1.1\r\nHost: a\r\n\r\n", 501),
  ]

  static let fields = [
    Case("no Host", "GET / HTTP/1.1\r\n\r\n", 400),
    Case("two Hosts", head("Host: b\r\n"), 400),
    Case("folded line", head("A: b\r\n c\r\n"), 400),
    Case("no colon", head("abc\r\n"), 400),
    Case("space before the colon", head("A : b\r\n"), 400),
    Case("empty name", head(": b\r\n"), 400),
    Case("NUL in a value", head("A: b\0c\r\n"), 400),
    Case("CR in a value", head("A: b\rc\r\n"), 400),
    Case("escape character in a value", head("A: \u{1B}[31m\r\n"), 400),
    Case("delete character in a value", head("A: \u{7F}\r\n"), 400),
    Case("bare LF after a field", head("A: b\n"), 400),
    Case("unknown expectation", head("Expect: magic\r\n"), 417),
  ]

  static let framings = [
    Case("negative length", head("Content-Length: -1\r\n"), 400),
    Case("signed length", head("Content-Length: +1\r\n"), 400),
    Case("hex length", head("Content-Length: 0x1\r\n"), 400),
    Case("empty length", head("Content-Length:\r\n"), 400),
    Case("length with a space", head("Content-Length: 1 2\r\n"), 400),
    Case("non-ASCII digits", head("Content-Length: ٣\r\n"), 400),
    Case("overflowing length", head("Content-Length: 9223372036854775808\r\n"), 400),
    Case("longest length", head("Content-Length: 9223372036854775807\r\n"), 413),
    Case("length list", head("Content-Length: 1, 1\r\n"), 400),
    Case("same length twice", head("Content-Length: 1\r\nContent-Length: 1\r\n"), 400),
    Case("two lengths", head("Content-Length: 1\r\nContent-Length: 2\r\n"), 400),
    Case("length and coding", head("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), 400),
    Case("gzip", head("Transfer-Encoding: gzip\r\n"), 501),
    Case("gzip, chunked", head("Transfer-Encoding: gzip, chunked\r\n"), 501),
    Case("chunked twice", head("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 501),
    Case("chunked in 1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    Case("empty chunk size", chunked + "\r\n", 400),
    Case("chunk size is no hex", chunked + "g\r\n", 400),
    Case("signed chunk size", chunked + "-1\r\n", 400),
    Case("prefixed chunk size", chunked + "0x1\r\n", 400),
    Case("overflowing chunk size", chunked + "FFFFFFFFFFFFFFFFF\r\n", 400),
    Case("huge chunk size", chunked + "FFFFFFFFFFFFFFF\r\n", 413),
    Case("garbage after the chunk size", chunked + "1 x\r\n", 400),
    Case("space after the chunk size", chunked + "1 \r\na\r\n", 400),
    Case("NUL in an extension", chunked + "1;\0\r\n", 400),
    Case("chunk longer than its size", chunked + "1\r\nab\r\n", 400),
    Case("chunk ended by a bare LF", chunked + "1\r\na\n", 400),
    Case("bad trailer field", chunked + "0\r\nabc\r\n\r\n", 400),
    Case("folded trailer", chunked + "0\r\n a\r\n\r\n", 400),
  ]

  static let overLimits = [
    Case("request line", "GET /" + String(repeating: "a", count: 500), 414),
    Case("target", get("/" + String(repeating: "a", count: 120)), 414),
    Case("head", head("A: " + String(repeating: "b", count: 500)), 431),
    Case("fields", head(String(repeating: "A: b\r\n", count: 5)), 431),
    Case("length", head("Content-Length: 21\r\n"), 413),
    Case("chunk", chunked + "15\r\n", 413),
    Case("sum of chunks", chunked + "a\r\n0123456789\r\nb\r\n", 413),
    Case("extension", chunked + "1;" + String(repeating: "e", count: 500), 400),
    Case(
      "sum of extensions",
      chunked + String(repeating: "1;\(String(repeating: "e", count: 100))\r\na\r\n", count: 4), 400),
    Case("trailer", chunked + "0\r\nA: " + String(repeating: "b", count: 500), 431),
    Case("trailer fields", chunked + "0\r\n" + String(repeating: "A: b\r\n", count: 6), 431),
  ]

  @Test(arguments: lines + fields + framings)
  func `a malformed request is refused`(malformed: Case) {
    #expect(status(parse(malformed.text)) == malformed.status)
  }

  @Test(arguments: lines + fields + framings)
  func `a malformed request is refused in the same way if it arrives byte by byte`(malformed: Case) {
    let bytes = Array(malformed.text.utf8)
    #expect(status(parse(bytes.indices.map { bytes[$0...$0] })) == malformed.status)
  }

  @Test(arguments: overLimits)
  func `a request over a limit is refused`(large: Case) {
    let limits = HTTPLimits(headBytes: 300, targetBytes: 100, headerCount: 5, bodyBytes: 20)
    #expect(status(parse(large.text, limits: limits)) == large.status)
  }

  @Test func `a request exactly at its limits is accepted`() {
    let text = MalformedRequestTests.head("A: 1\r\nB: 2\r\nC: 3\r\nContent-Length: 20\r\n")
    let limits = HTTPLimits(headBytes: text.utf8.count, targetBytes: 1, headerCount: 5, bodyBytes: 20)
    #expect(requests(parse(text + String(repeating: "x", count: 20), limits: limits)).count == 1)
    var smaller = limits
    smaller.headBytes -= 1
    #expect(status(parse(text, limits: smaller)) == 431)
  }

  @Test(arguments: lines + fields + framings)
  func `the server answers a malformed request with a problem and keeps serving`(malformed: Case) throws {
    try withServer { server, recorder in
      let client = try RawClient(port: server.port)
      let answer = try client.ask(malformed.text)
      #expect(answer.status == malformed.status)
      #expect(answer.header("Content-Type") == "application/problem+json")
      #expect(answer.header("Connection") == "close")
      #expect(answer.text.contains("\"status\":\(malformed.status),"))
      client.finishSending()
      #expect(client.readToEnd().ending == .closed)
      #expect(recorder.requests.isEmpty)
      #expect(try RawClient(port: server.port).ask(get("/next")).status == 200)
    }
  }
}

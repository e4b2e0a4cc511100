import LoopbackHTTP
import Testing

/// The results of the parser for `pieces`, fed one after the other.
func parse(_ pieces: [ArraySlice<UInt8>], limits: HTTPLimits = HTTPLimits()) -> [RequestParser.Step] {
  var parser = RequestParser(limits: limits)
  var steps: [RequestParser.Step] = []
  for piece in pieces {
    parser.feed(piece)
    reading: while true {
      let step = parser.next()
      switch step {
      case .needMore: break reading
      case .failure: return steps + [step]
      case .sendContinue, .head, .request: steps.append(step)
      }
    }
  }
  return steps
}

func parse(_ text: String, limits: HTTPLimits = HTTPLimits()) -> [RequestParser.Step] {
  parse([Array(text.utf8)[...]], limits: limits)
}

func status(_ steps: [RequestParser.Step]) -> Int? {
  if case .failure(let failure) = steps.last { failure.status } else { nil }
}

func requests(_ steps: [RequestParser.Step]) -> [HTTPRequest] {
  steps.compactMap { if case .request(let parsed) = $0 { parsed.request } else { nil } }
}

let chunked = "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

struct RequestParserTests {
  @Test func `a request's parts are decoded`() throws {
    let text =
      "PUT /v1/a%20b/%E2%82%AC?x=1&x=2&y=%26+z&flag HTTP/1.1\r\nHOST: h\r\n"
      + "X-A: \t v w \r\nx-a: 2\r\nContent-Length: 3\r\n\r\nabc"
    let request = try #require(requests(parse(text)).first)
    #expect(request.method == "PUT")
    #expect(request.path == "/v1/a b/€")
    #expect(request.query == ["x": "2", "y": "&+z", "flag": ""])
    #expect(request.headers["x-A"] == "v w")
    #expect(request.headers.fields.map(\.name) == ["HOST", "X-A", "x-a", "Content-Length"])
    #expect(request.body == Array("abc".utf8))
  }

  static let conversation =
    "\r\n" + post("/one?q=%41", "he\r\nllo\n") + get("/two") + chunked
    + "3;ext=1\r\nabc\r\n00A ;b=c\r\n01234\n\r\n89\r\n0\r\nX-T: 1\r\n\r\n"
    + "GET http://h:1/abs?z HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n" + post("/five", "")

  @Test func `the same requests are read wherever the input is split`() {
    let bytes = Array(RequestParserTests.conversation.utf8)
    let whole = parse([bytes[...]])
    #expect(requests(whole).map(\.path) == ["/one", "/two", "/c", "/abs", "/five"])
    #expect(requests(whole).first { $0.path == "/c" }?.body == Array("abc01234\n\r\n89".utf8))
    for index in bytes.indices {
      #expect(parse([bytes[..<index], bytes[index...]]) == whole, "split at byte \(index)")
    }
    #expect(parse(bytes.indices.map { bytes[$0...$0] }) == whole, "byte by byte")
  }

  @Test func `a prefix of a request is never a request nor a failure`() {
    let bytes = Array((chunked + "3\r\nabc\r\n0\r\n\r\n").utf8)
    for end in bytes.indices {
      #expect(parse([bytes[..<end]]).isEmpty, "\(end) bytes")
    }
  }

  @Test(arguments: [
    ("HTTP/1.1", "", true), ("HTTP/1.1", "Connection: close\r\n", false),
    ("HTTP/1.1", "Connection: x, CLOSE\r\n", false), ("HTTP/1.0", "", false),
    ("HTTP/1.0", "Connection: keep-alive\r\n", true),
    ("HTTP/1.0", "Connection: keep-alive, close\r\n", false), ("HTTP/1.7", "", true),
  ])
  func `version and Connection decide whether a connection persists`(
    version: String, field: String, stays: Bool
  ) {
    let steps = parse("GET / \(version)\r\nHost: a\r\n\(field)\r\n")
    guard case .request(let parsed) = steps.first else {
      Issue.record("no request: \(steps)")
      return
    }
    #expect(parsed.keepsAlive == stays)
  }

  @Test func `100 Continue is asked for only while the body is missing`() {
    let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n"
    #expect(parse(head) == [.sendContinue])
    #expect(parse(head + "a").isEmpty)
    #expect(parse([Array(head.utf8)[...], Array("ab".utf8)[...]]).count == 2)
    #expect(parse(get("/", "Expect: 100-continue\r\n")).count == 1)
  }

  @Test func `a header value that is not UTF-8 is read as Latin-1`() {
    let bytes = Array("GET / HTTP/1.1\r\nHost: a\r\nX: ".utf8) + [0xE9] + Array("\r\n\r\n".utf8)
    #expect(requests(parse([bytes[...]])).first?.headers["X"] == "é")
  }

  @Test func `a failure is final`() {
    var parser = RequestParser()
    parser.feed(Array("nonsense\r\n\r\n".utf8)[...])
    let first = parser.next()
    parser.feed(Array(get("/").utf8)[...])
    #expect(parser.next() == first)
    #expect(status([first]) == 400)
  }

  @Test func `a long line in 65,536 pieces is read`() {
    let limits = HTTPLimits(headBytes: 4 << 20, targetBytes: 4 << 20)
    let bytes = Array(get("/" + String(repeating: "a", count: 1 << 20)).utf8)
    let pieces = stride(from: 0, to: bytes.count, by: 16).map { bytes[$0..<min($0 + 16, bytes.count)] }
    // A search from the start at each piece would read 34 thousand million bytes: this test would take minutes.
    #expect(requests(parse(pieces, limits: limits)).first?.path.utf8.count == 1 + 1 << 20)
  }
}

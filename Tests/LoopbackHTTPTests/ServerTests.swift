import LoopbackHTTP
import Testing

/// A server without faults and clients that keep to the protocol.
struct ServerTests {
  @Test func `one connection serves many requests`() throws {
    try withServer { server, recorder in
      let client = try RawClient(port: server.port)
      for number in 0..<50 {
        #expect(try client.ask(post("/\(number)", "b\(number)")).text == "POST /\(number) b\(number)")
      }
      #expect(recorder.requests.count == 50)
    }
  }

  @Test func `pipelined requests are answered in order`() throws {
    try withServer { server, _ in
      let client = try RawClient(port: server.port)
      client.send((0..<100).map { post("/\($0)", "x") }.joined())
      for number in 0..<100 { #expect(try client.read().text == "POST /\(number) x") }
    }
  }

  @Test func `a chunked body arrives whole, and the connection stays open`() throws {
    try withServer { server, _ in
      let client = try RawClient(port: server.port)
      let answer = try client.ask(chunked + "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: v\r\n\r\n")
      #expect(answer.text == "POST /c abcde")
      #expect(try client.ask(get("/next")).text == "GET /next ")
    }
  }

  @Test func `a request sent byte by byte is served`() throws {
    try withServer { server, _ in
      let client = try RawClient(port: server.port)
      for byte in post("/slow", "abc").utf8 { client.send([byte]) }
      #expect(try client.read().text == "POST /slow abc")
    }
  }

  @Test func `a large body is received and sent`() throws {
    let body = String(repeating: "0123456789abcdef", count: 1 << 16)
    try withServer { server, _ in
      let client = try RawClient(port: server.port)
      #expect(try client.ask(post("/big", body)).text == "POST /big " + body)
    }
  }

  @Test func `the client gets 100 Continue before it sends the body`() throws {
    try withServer { server, _ in
      let client = try RawClient(port: server.port)
      client.send("PUT /e HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
      #expect(try client.readHead().status == 100)
      #expect(try client.ask("abc").text == "PUT /e abc")
    }
  }

  @Test func `a too large body is refused before 100 Continue`() throws {
    try withServer(limits: HTTPLimits(bodyBytes: 10)) { server, _ in
      let client = try RawClient(port: server.port)
      let head = "PUT /e HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\n"
      #expect(try client.ask(head).status == 413)
    }
  }

  @Test func `a body longer than the limit gets 413 and the server keeps serving`() throws {
    try withServer(limits: HTTPLimits(bodyBytes: 1000)) { server, recorder in
      let client = try RawClient(port: server.port)
      // The body is larger than the buffers of the sockets. A server that closed at once would reset the connection
      // here, and on some systems the client would lose the answer.
      #expect(client.send(post("/", String(repeating: "x", count: 8 << 20))))
      #expect(try client.read().status == 413)
      client.finishSending()
      #expect(client.readToEnd().ending == .closed)
      #expect(try RawClient(port: server.port).ask(get("/next")).status == 200)
      #expect(recorder.paths == ["/next"])
    }
  }

  @Test(arguments: ["GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"])
  func `the connection is closed after the answer if the request asks for it`(request: String) throws {
    try withServer { server, _ in
      let client = try RawClient(port: server.port)
      client.send(request + get("/never"))
      #expect(try client.read().header("Connection") == "close")
      #expect(client.readToEnd() == ([], .closed))
    }
  }

  @Test func `a 1.0 client that asks for keep-alive gets it`() throws {
    try withServer { server, _ in
      let client = try RawClient(port: server.port)
      let request = "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
      #expect(try client.ask(request).header("Connection") == "keep-alive")
      #expect(try client.ask(request).status == 200)
    }
  }

  @Test func `HEAD gets the head of the answer to GET and no body`() throws {
    try withServer { server, _ in
      let client = try RawClient(port: server.port)
      client.send("HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try client.readHead().header("Content-Length") == "8")
      #expect(try client.ask(get("/b")).text == "GET /b ")
    }
  }

  @Test(arguments: [204, 304])
  func `an answer that has no body is sent without one`(status: Int) throws {
    let handler: @Sendable (HTTPRequest) -> HTTPResponse = { _ in
      HTTPResponse(status: status, body: [1, 2, 3])
    }
    try withServer(handler: handler) { server, _ in
      let client = try RawClient(port: server.port)
      #expect(try client.ask(get("/a")).header("Content-Length") == nil)
      #expect(try client.ask(get("/b")).status == status)
    }
  }

  @Test(arguments: [
    HTTPResponse(status: 200, headers: ["X": "a\r\nY: b"]), HTTPResponse(status: 200, headers: ["X Y": "a"]),
    HTTPResponse(status: 200, headers: ["": "a"]), HTTPResponse(status: 99), HTTPResponse(status: 1000),
    HTTPResponse(status: 100),
  ])
  func `an answer that would break the stream is replaced by 500`(response: HTTPResponse) throws {
    try withServer(handler: { _ in response }) { server, _ in
      let client = try RawClient(port: server.port)
      #expect(try client.ask(get("/")).status == 500)
      #expect(try client.ask(get("/")).status == 500)
    }
  }

  @Test func `a handler cannot falsify the framing`() throws {
    let headers: HTTPHeaders = ["content-length": "99", "Transfer-Encoding": "chunked", "X": "1", "X": "2"]
    let response = HTTPResponse(status: 200, headers: headers, body: [65])
    try withServer(handler: { _ in response }) { server, _ in
      let answer = try RawClient(port: server.port).ask(get("/"))
      #expect(answer.head == "HTTP/1.1 200 OK\r\nX: 1\r\nX: 2\r\nContent-Length: 1")
      #expect(answer.text == "A")
    }
  }
}

struct HTTPHeadersTests {
  @Test func `names are found whatever their case and order is kept`() {
    var headers: HTTPHeaders = ["A": "1", "b": "2", "a": "3"]
    #expect(headers["a"] == "1")
    headers["B"] = "4"
    headers["a"] = "5"
    headers["c"] = "6"
    #expect(headers == HTTPHeaders([("a", "5"), ("B", "4"), ("C", "6")]))
    headers["b"] = nil
    #expect(headers.fields.map(\.value) == ["5", "6"])
    #expect(headers["b"] == nil)
  }
}

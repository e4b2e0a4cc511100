import Foundation
import LoopbackHTTP
import Testing

/// Requests that are judged by their head, and the memory of those that are read.
struct AdmissionTests {
  private static let refusal = HTTPResponse(status: 401, body: Array("who?".utf8))

  private func withAdmission(
    _ limits: HTTPLimits = HTTPLimits(), handler: (@Sendable (HTTPRequest) -> HTTPResponse)? = nil,
    _ body: (HTTPServer, Recorder) throws -> Void
  ) throws {
    let recorder = Recorder()
    let server = HTTPServer(
      limits: limits,
      admit: { head in
        head.headers["Authorization"] == nil
          ? .readOrRefuse(upTo: 100, AdmissionTests.refusal) : .read(upTo: 1_000_000)
      }, handler: handler ?? recorder.answer)
    try server.start()
    defer { server.stop() }
    try body(server, recorder)
  }

  @Test func `a long body of an unknown caller is refused before a byte of it arrives`() throws {
    try withAdmission { server, recorder in
      let client = try RawClient(port: server.port)
      let answer = try client.ask("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 8000000\r\n\r\n")
      #expect(answer.status == 401 && answer.text == "who?")
      #expect(recorder.requests.isEmpty)
    }
  }

  @Test func `it is not asked for with 100 Continue, and chunks of it are cut off`() throws {
    try withAdmission { server, recorder in
      let waiting = try RawClient(port: server.port)
      let head = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\nExpect: 100-continue\r\n\r\n"
      #expect(try waiting.ask(head).status == 401)
      let chunked = try RawClient(port: server.port)
      chunked.send("POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
      #expect(try chunked.ask("65\r\n").status == 401)
      #expect(recorder.requests.isEmpty)
    }
  }

  @Test func `short bodies, and those of known callers, are read, on one connection`() throws {
    try withAdmission { server, recorder in
      let client = try RawClient(port: server.port)
      #expect(try client.ask(post("/a", "short")).text == "POST /a short")
      let long = String(repeating: "x", count: 200_000)
      #expect(try client.ask(post("/b", long, "Authorization: x\r\n")).body.count == 8 + long.utf8.count)
      let head = "PUT /c HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"
      client.send(head)
      #expect(try client.readHead().status == 100)
      #expect(try client.ask("abc").text == "PUT /c abc")
      #expect(recorder.paths == ["/a", "/b", "/c"])
    }
  }

  @Test func `long bodies beyond the budget wait, and are answered 503 if that takes too long`() throws {
    let (begun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let limits = HTTPLimits(bodyBytes: 300_000, bodyBudget: 300_000, readTimeoutMilliseconds: 100)
    try withAdmission(
      limits,
      handler: { request in
        if request.path == "/slow" {
          begun.signal()
          mayEnd.wait()
        }
        return HTTPResponse(status: 200)
      }
    ) { server, _ in
      let long = String(repeating: "x", count: 250_000)
      let first = try RawClient(port: server.port)
      first.send(post("/slow", long, "Authorization: x\r\n"))
      begun.wait()
      let second = try RawClient(port: server.port)
      #expect(try second.ask(post("/b", long, "Authorization: x\r\n")).status == 503)
      // A short one needs none of the budget.
      #expect(try RawClient(port: server.port).ask(post("/c", "short")).status == 200)
      mayEnd.signal()
      #expect(try first.read().status == 200)
      #expect(try RawClient(port: server.port).ask(post("/d", long, "Authorization: x\r\n")).status == 200)
    }
  }
}

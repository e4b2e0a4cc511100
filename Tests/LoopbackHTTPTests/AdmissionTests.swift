import Foundation
import LoopbackHTTP
import Testing

/// Answers requests of `/slow` when the test says so, the others at once.
private struct SlowAnswers {
  let begun = DispatchSemaphore(value: 0)
  let mayEnd = DispatchSemaphore(value: 0)

  @Sendable func answer(_ request: HTTPRequest) -> HTTPResponse {
    if request.path == "/slow" {
      begun.signal()
      mayEnd.wait()
    }
    return HTTPResponse(status: 200)
  }
}

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

  /// The share of an answered body comes back a moment after the answer.
  private func statusOnceAdmitted(_ request: String, _ server: HTTPServer) throws -> Int {
    while true {
      let status = try RawClient(port: server.port).ask(request).status
      if status != 503 { return status }
    }
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

  @Test func `a long body beyond the budget is answered 503 at once, a short one is read`() throws {
    let limits = HTTPLimits(bodyBytes: 300_000, bodyBudget: 600_000, readTimeoutMilliseconds: 600_000)
    let slow = SlowAnswers()
    try withAdmission(limits, handler: slow.answer) { server, _ in
      let long = String(repeating: "x", count: 290_000)
      let clients = try (0..<2).map { _ in try RawClient(port: server.port) }
      for client in clients {
        client.send(post("/slow", long, "Authorization: x\r\n"))
        slow.begun.wait()
      }
      let refused = try RawClient(port: server.port)
      let answer = try refused.ask(post("/b", long, "Authorization: x\r\n"))
      #expect(answer.status == 503 && answer.header("Retry-After") == "1")
      #expect(refused.readToEnd() == ([], .closed))
      #expect(try RawClient(port: server.port).ask(post("/c", "short")).status == 200)
      for _ in clients { slow.mayEnd.signal() }
      for client in clients { #expect(try client.read().status == 200) }
      // Bodies that were answered give their share back.
      #expect(try statusOnceAdmitted(post("/d", long, "Authorization: x\r\n"), server) == 200)
    }
  }

  @Test func `a chunked body takes its share as it grows`() throws {
    let limits = HTTPLimits(bodyBytes: 1_000_000, bodyBudget: 2_000_000, readTimeoutMilliseconds: 600_000)
    let slow = SlowAnswers()
    try withAdmission(limits, handler: slow.answer) { server, _ in
      let head = "Host: a\r\nAuthorization: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      let chunk = "C3500\r\n" + String(repeating: "x", count: 800_000) + "\r\n0\r\n\r\n"
      let first = try RawClient(port: server.port)
      first.send("PUT /slow HTTP/1.1\r\n" + head + chunk)
      slow.begun.wait()
      #expect(try RawClient(port: server.port).ask("PUT /b HTTP/1.1\r\n" + head + chunk).status == 503)
      slow.mayEnd.signal()
      #expect(try first.read().status == 200)
      #expect(try statusOnceAdmitted("PUT /b HTTP/1.1\r\n" + head + chunk, server) == 200)
    }
  }

  @Test func `a slow sender of a long body reads its 413, and is not reset`() throws {
    let limits = HTTPLimits(bodyBytes: 1_000, readTimeoutMilliseconds: 600_000)
    try withServer(limits: limits) { server, recorder in
      let client = try RawClient(port: server.port)
      client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 8000000\r\n\r\n")
      // Refused by its head; the client sends on, piece by piece, and reads only then.
      let piece = [UInt8](repeating: 0x78, count: 100_000)
      for _ in 0..<80 { #expect(client.send(piece)) }
      client.finishSending()
      #expect(try client.read().status == 413)
      #expect(client.readToEnd() == ([], .closed))
      #expect(recorder.requests.isEmpty)
    }
  }
}

import Dispatch
import LoopbackHTTP
import Testing

/// The effect of each fault on the client, and whether the handler ran.
struct FaultTests {
  /// The fault applies to "/bad" only, so that a test can see that the server still runs.
  private func withFault(
    _ fault: Fault, _ body: (RawClient, HTTPServer, Recorder) throws -> Void
  ) throws {
    let plan: @Sendable (HTTPRequest) -> Fault? = { $0.path == "/bad" ? fault : nil }
    try withServer(fault: plan) { server, recorder in
      try body(RawClient(port: server.port), server, recorder)
      #expect(try RawClient(port: server.port).ask(get("/good")).text == "GET /good ")
    }
  }

  @Test func `dropBeforeCommit closes without a byte and without the handler`() throws {
    try withFault(.dropBeforeCommit) { client, _, recorder in
      client.send(get("/bad"))
      #expect(client.readToEnd() == ([], .closed))
      #expect(recorder.paths == [])
    }
  }

  @Test func `dropAfterCommit closes without a byte after the handler`() throws {
    try withFault(.dropAfterCommit) { client, _, recorder in
      client.send(post("/bad", "abc") + get("/pipelined"))
      #expect(client.readToEnd() == ([], .closed))
      #expect(recorder.paths == ["/bad"])
    }
  }

  @Test func `respond answers in the handler's place and keeps the connection`() throws {
    let portal = HTTPResponse(status: 503, headers: ["Retry-After": "7"], body: Array("<html>".utf8))
    try withFault(.respond(portal)) { client, _, recorder in
      let answer = try client.ask(get("/bad"))
      #expect(answer.status == 503)
      #expect(answer.header("Retry-After") == "7")
      #expect(answer.text == "<html>")
      #expect(try client.ask(get("/good")).status == 200)
      #expect(recorder.paths == ["/good"])
    }
  }

  @Test func `delay answers as usual, but not before its time`() throws {
    let asked = DispatchSemaphore(value: 0)
    let plan: @Sendable (HTTPRequest) -> Fault? = {
      guard $0.path == "/bad" else { return nil }
      asked.signal()
      return .delay(milliseconds: 100)
    }
    try withServer(fault: plan) { server, recorder in
      let client = try RawClient(port: server.port)
      let start = ContinuousClock.now
      client.send(get("/bad"))
      // This request arrives during the delay and must not shorten it.
      asked.wait()
      client.send(get("/good"))
      #expect(try client.read().text == "GET /bad ")
      #expect(ContinuousClock.now - start >= .milliseconds(99))
      #expect(try client.read().text == "GET /good ")
      #expect(recorder.paths == ["/bad", "/good"])
    }
  }

  @Test func `a negative time counts as zero`() throws {
    try withFault(.delay(milliseconds: .min)) { client, _, _ in
      let answer = try client.ask(get("/bad"))
      #expect(answer.status == 200)
    }
  }

  @Test func `reset runs the handler, and the client sees a connection reset`() throws {
    try withFault(.reset) { client, _, recorder in
      client.send(get("/bad"))
      #expect(client.readToEnd() == ([], .reset))
      #expect(recorder.paths == ["/bad"])
    }
  }

  @Test(arguments: [(-1, 0), (0, 0), (3, 3), (8, 8), (9, 9), (100, 9)])
  func `truncate sends less than its Content-Length announces`(bytes: Int, sent: Int) throws {
    try withFault(.truncate(bytes: bytes)) { client, _, recorder in
      client.send(get("/bad"))
      let head = try client.readHead()
      #expect(head.header("Content-Length") == "9")
      #expect(client.readToEnd() == (Array("GET /bad ".utf8.prefix(sent)), .closed))
      #expect(recorder.paths == ["/bad"])
    }
  }

  @Test func `stall sends nothing, then closes`() throws {
    try withFault(.stall(milliseconds: 60)) { client, _, recorder in
      let start = ContinuousClock.now
      client.send(get("/bad"))
      #expect(client.readToEnd() == ([], .closed))
      #expect(ContinuousClock.now - start >= .milliseconds(50))
      #expect(recorder.paths == ["/bad"])
    }
  }

  @Test func `stall ends when the client gives up`() throws {
    // One connection at most: the next client is served once the stalled one's thread is free.
    let plan: @Sendable (HTTPRequest) -> Fault? = {
      $0.path == "/bad" ? .stall(milliseconds: 600_000) : nil
    }
    try withServer(limits: HTTPLimits(connections: 1), fault: plan) { server, _ in
      let client = try RawClient(port: server.port)
      client.send(get("/bad"))
      client.finishSending()
      #expect(client.readToEnd() == ([], .closed))
      #expect(try RawClient(port: server.port).ask(get("/good")).status == 200)
    }
  }

  @Test func `garbage is sent as it is`() throws {
    let garbage: [UInt8] = [0, 255, 13, 10, 72, 84, 84, 80]
    try withFault(.garbage(garbage)) { client, _, recorder in
      client.send(post("/bad", "abc"))
      #expect(client.readToEnd() == (garbage, .closed))
      #expect(recorder.paths == [])
    }
  }

  @Test func `a request that is delivered twice is handled twice and answered once`() throws {
    try withFault(.deliverTwice) { client, _, recorder in
      let bad = try client.ask(post("/bad", "abc"))
      let good = try client.ask(get("/good"))
      #expect(bad.status == 200 && good.status == 200)
      #expect(recorder.paths == ["/bad", "/bad", "/good"])
    }
  }

  @Test(arguments: [(2, "11", true), (-2, "7", false), (.max, "\(Int.max)", true), (.min, "0", false)])
  func `a wrong Content-Length differs by the given number`(error: Int, length: String, isClosed: Bool) throws
  {
    try withFault(.wrongLength(by: error)) { client, _, recorder in
      client.send(get("/bad"))
      let head = try client.readHead()
      #expect(head.header("Content-Length") == length)
      if isClosed { #expect(client.readToEnd() == (Array("GET /bad ".utf8), .closed)) }
      #expect(recorder.paths == ["/bad"])
    }
  }

  @Test(arguments: [(1, 0), (7, 1), (0, 0), (1_000, 5)])
  func `an answer in pieces arrives complete`(bytes: Int, milliseconds: Int) throws {
    try withFault(.dribble(bytes: bytes, milliseconds: milliseconds)) { client, _, _ in
      let bad = try client.ask(get("/bad"))
      let good = try client.ask(get("/good"))
      #expect(bad.text == "GET /bad " && good.text == "GET /good ")
    }
  }

  @Test func `a fault is asked for once per request`() throws {
    let asked = Recorder()
    let plan: @Sendable (HTTPRequest) -> Fault? = {
      _ = asked.answer($0)
      return nil
    }
    try withServer(fault: plan) { server, _ in
      let client = try RawClient(port: server.port)
      _ = try client.ask(post("/a", "xyz"))
      _ = try client.ask(get("/b"))
      #expect(asked.paths == ["/a", "/b"])
      #expect(asked.requests.first?.body == Array("xyz".utf8))
    }
  }
}

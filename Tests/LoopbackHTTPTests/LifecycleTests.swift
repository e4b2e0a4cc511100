import Foundation
import LoopbackHTTP
import Testing

/// Starting, stopping, many clients, slow clients and hostile ones.
struct LifecycleTests {
  @Test func `the error of a port in use says what to do`() throws {
    try withServer { server, recorder in
      let other = HTTPServer(handler: recorder.answer)
      let error = try #require(throws: HTTPServerError.self) { try other.start(port: server.port) }
      #expect(error.operation == "bind")
      #expect(error.code == EADDRINUSE)
      #expect(error.description.contains("bind on 127.0.0.1:\(server.port) failed: "))
      #expect(error.description.contains("pass port 0"))
      other.stop()
      #expect(other.port == 0)
    }
  }

  @Test(arguments: ["example.org", "", "1.2.3", "::1"])
  func `a host that is no IPv4 address is refused`(host: String) throws {
    let server = HTTPServer { _ in HTTPResponse(status: 200) }
    let error = try #require(throws: HTTPServerError.self) { try server.start(host: host) }
    #expect(error.operation == "resolve")
  }

  @Test func `a second start is refused, and a start after a stop is not`() throws {
    try withServer { server, _ in
      #expect(try #require(throws: HTTPServerError.self) { try server.start() }.operation == "start")
      let port = server.port
      server.stop()
      #expect(throws: RawClient.Problem.self) { try RawClient(port: port) }
      try server.start(port: port)
      #expect(try RawClient(port: port).ask(get("/again")).status == 200)
    }
  }

  @Test func `stop is idempotent, also on a server never started`() throws {
    let server = HTTPServer { _ in HTTPResponse(status: 200) }
    server.stop()
    #expect(server.port == 0)
    try server.start()
    server.stop()
    server.stop()
  }

  @Test func `stop from several threads returns on all`() throws {
    try withServer { server, _ in
      DispatchQueue.concurrentPerform(iterations: 8) { _ in server.stop() }
    }
  }

  @Test func `stop from a handler does not wait for itself`() throws {
    let box = Box()
    let server = HTTPServer { _ in
      box.server?.stop()
      return HTTPResponse(status: 200)
    }
    box.server = server
    try server.start()
    // This answer may or may not arrive, but both calls must return.
    let client = try RawClient(port: server.port)
    client.send(get("/"))
    _ = client.readToEnd()
    server.stop()
    box.server = nil
  }

  @Test(arguments: [Fault.stall(milliseconds: 600_000), .delay(milliseconds: 600_000)])
  func `stop returns promptly while a fault delays a client`(fault: Fault) throws {
    let asked = DispatchSemaphore(value: 0)
    let plan: @Sendable (HTTPRequest) -> Fault? = { _ in
      asked.signal()
      return fault
    }
    try withServer(fault: plan) { server, _ in
      let client = try RawClient(port: server.port)
      client.send(get("/"))
      asked.wait()
      // Half of the fault's time, so that a busy machine passes.
      #expect(duration { server.stop() } < .seconds(300))
      #expect(client.readToEnd() == ([], .closed))
    }
  }

  @Test func `stop returns promptly with idle clients and half a request`() throws {
    let limits = HTTPLimits(idleTimeoutMilliseconds: 600_000, readTimeoutMilliseconds: 600_000)
    try withServer(limits: limits) { server, _ in
      let idle = try RawClient(port: server.port)
      #expect(try idle.ask(get("/")).status == 200)
      let half = try RawClient(port: server.port)
      half.send("GET / HT")
      let silent = try RawClient(port: server.port)
      #expect(duration { server.stop() } < .seconds(300))
      #expect(idle.readToEnd() == ([], .closed))
      #expect(half.readToEnd().bytes == [])
      #expect(silent.readToEnd().bytes == [])
    }
  }

  @Test func `a client that stops reading does not block the server`() throws {
    let large = HTTPResponse(status: 200, body: [UInt8](repeating: 0, count: 32 << 20))
    let limits = HTTPLimits(connections: 1, readTimeoutMilliseconds: 100)
    let plan: @Sendable (HTTPRequest) -> HTTPResponse = {
      $0.path == "/large" ? large : HTTPResponse(status: 204)
    }
    try withServer(limits: limits, handler: plan) { server, _ in
      let client = try RawClient(port: server.port, receiveBytes: 4096)
      client.send(get("/large"))
      #expect(try RawClient(port: server.port).ask(get("/")).status == 204)
      _ = client
    }
  }

  @Test func `a server that is released without stop ends`() throws {
    let limits = HTTPLimits(idleTimeoutMilliseconds: 600_000)
    var server: HTTPServer? = HTTPServer(limits: limits) { _ in HTTPResponse(status: 200) }
    try server?.start()
    let client = try RawClient(port: try #require(server?.port))
    #expect(try client.ask(get("/")).status == 200)
    server = nil
    #expect(client.readToEnd() == ([], .closed))
  }

  @Test(arguments: ["G", "GET / HTTP/1.1\r\nHos", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx"])
  func `a client that sends its request too slowly gets 408`(half: String) throws {
    try withServer(limits: HTTPLimits(readTimeoutMilliseconds: 40)) { server, recorder in
      let client = try RawClient(port: server.port)
      #expect(try client.ask(half).status == 408)
      #expect(client.readToEnd() == ([], .closed))
      #expect(recorder.requests.isEmpty)
    }
  }

  @Test func `an idle connection is closed without an answer`() throws {
    // Half a second, so that the request of a busy machine comes in time.
    try withServer(limits: HTTPLimits(idleTimeoutMilliseconds: 500)) { server, _ in
      let client = try RawClient(port: server.port)
      #expect(try client.ask(get("/")).status == 200)
      #expect(client.readToEnd() == ([], .closed))
      #expect(try RawClient(port: server.port).readToEnd() == ([], .closed))
    }
  }

  @Test func `a request cut off by the client gets 400`() throws {
    try withServer { server, recorder in
      let client = try RawClient(port: server.port)
      client.send(post("/", "abc").dropLast().description)
      client.finishSending()
      #expect(try client.read().status == 400)
      #expect(recorder.requests.isEmpty)
    }
  }

  @Test func `child processes inherit none of the sockets`() throws {
    try withServer { server, _ in
      let client = try RawClient(port: server.port)
      #expect(try client.ask(get("/")).status == 200)
      let sockets = descriptors(boundTo: server.port)
      #expect(sockets.count == 2, "the listener and one connection")
      #expect(sockets.allSatisfy(isClosedOnExec))
    }
  }

  @Test func `empty lines do not keep a connection open`() throws {
    try withServer(limits: HTTPLimits(headBytes: 200, idleTimeoutMilliseconds: 60)) { server, _ in
      let client = try RawClient(port: server.port)
      client.send("\r\n\r\n")
      #expect(client.readToEnd() == ([], .closed))
    }
    try withServer(limits: HTTPLimits(headBytes: 200)) { server, _ in
      let client = try RawClient(port: server.port)
      #expect(try client.ask(String(repeating: "\r\n", count: 101)).status == 414)
    }
  }

  @Test func `64 connections are served at once`() throws {
    // No handler returns before all 64 have been called.
    let gate = Gate(count: 64)
    let handler: @Sendable (HTTPRequest) -> HTTPResponse = { request in
      let opened = gate.pass()
      return HTTPResponse(status: opened ? 200 : 500, body: Array(request.path.utf8))
    }
    try withServer(handler: handler) { server, _ in
      let clients = try (0..<64).map { _ in try RawClient(port: server.port) }
      for (number, client) in clients.enumerated() { client.send(get("/\(number)")) }
      for (number, client) in clients.enumerated() {
        let answer = try client.read()
        #expect(answer.status == 200)
        #expect(answer.text == "/\(number)")
      }
    }
  }

  @Test func `connections beyond the limit wait while all others are busy`() throws {
    let (begun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let reached = DispatchSemaphore(value: 0)
    let order = Recorder()
    try withServer(
      limits: HTTPLimits(connections: 1),
      handler: { request in
        if request.path == "/first" {
          begun.signal()
          mayEnd.wait()
        } else {
          reached.signal()
        }
        return order.answer(request)
      }
    ) { server, _ in
      let first = try RawClient(port: server.port)
      first.send(get("/first"))
      begun.wait()
      let second = try RawClient(port: server.port)
      second.send(get("/second"))
      // Without the limit the second request comes to the handler at once.
      #expect(reached.wait(timeout: .now() + .milliseconds(300)) == .timedOut)
      mayEnd.signal()
      #expect(try first.read().text == "GET /first ")
      #expect(try second.read().status == 200)
      #expect(order.paths == ["/first", "/second"])
    }
  }

  @Test(arguments: ["", "GET / HTTP/1.1\r\nHos", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx"])
  func `clients that stop in the middle of a request do not lock others out`(half: String) throws {
    let limits = HTTPLimits(
      connections: 3, idleTimeoutMilliseconds: 600_000, readTimeoutMilliseconds: 600_000)
    try withServer(limits: limits) { server, _ in
      var held: [RawClient] = []
      for _ in 0..<8 {
        let client = try RawClient(port: server.port)
        client.send(half)
        held.append(client)
      }
      for number in 0..<8 {
        let client = try RawClient(port: server.port)
        #expect(try client.ask(get("/\(number)")).text == "GET /\(number) ")
        held.append(client)
      }
    }
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `random garbage never kills the server`(seed: UInt64) throws {
    var random = SeededGenerator(state: seed)
    try withServer { server, _ in
      for _ in 0..<10 {
        let client = try RawClient(port: server.port)
        client.send(Mutation.request(using: &random))
        client.finishSending()
        #expect(client.readToEnd().ending != .timedOut)
      }
      #expect(try RawClient(port: server.port).ask(get("/alive")).text == "GET /alive ")
    }
  }

  @Test(arguments: 0..<8 as Range<UInt64>)
  func `the parser reads the same from garbage wherever it is split`(seed: UInt64) {
    var random = SeededGenerator(state: seed)
    for _ in 0..<200 {
      let bytes = Mutation.request(using: &random)
      let split = Int.random(in: 0...bytes.count, using: &random)
      #expect(parse([bytes[..<split], bytes[split...]]) == parse([bytes[...]]))
    }
  }
}

/// Requests with a few wrong bytes, and sometimes only noise.
enum Mutation {
  static func request(using random: inout SeededGenerator) -> [UInt8] {
    if Int.random(in: 0..<5, using: &random) == 0 {
      let count = Int.random(in: 0..<500, using: &random)
      return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
    var bytes = Array(RequestParserTests.conversation.utf8)
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<3, using: &random) {
      case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes.remove(at: place)
      default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
      }
    }
    return bytes
  }
}

/// Blocks each thread until `count` threads have arrived; gives up after 5 minutes.
final class Gate: @unchecked Sendable {
  private let condition = NSCondition()
  private var missing: Int

  init(count: Int) { missing = count }

  func pass() -> Bool {
    condition.lock()
    defer { condition.unlock() }
    missing -= 1
    condition.broadcast()
    let end = Date(timeIntervalSinceNow: 300)
    while missing > 0 {
      if !condition.wait(until: end) { return false }
    }
    return true
  }
}

/// Holds a server for its own handler; written before the server starts and after it stops.
private final class Box: @unchecked Sendable {
  var server: HTTPServer?
}

import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import Testing

/// Answers that break off, are too long, or never come.
@Suite struct TransportFaultTests {
  /// A head that ends after its status line is missing here: Foundation on Linux (6.3.1) then ends the process
  /// ("Transfer completed, but there's no response") before it calls the transport. So it does ("Invalid URL") for a
  /// redirect whose Location has no scheme and a host such as `//[::1]/` or `//a%20b/`.
  static let broken: [(String, Fault)] = [
    ("dropped before", .dropBeforeCommit), ("dropped after", .dropAfterCommit), ("reset", .reset),
    ("nothing of the body", .truncate(bytes: 0)), ("half of the body", .truncate(bytes: 10)),
    ("garbage", .garbage(Array("\u{1}\u{2}not HTTP at all\r\n\r\n".utf8))), ("no byte", .garbage([])),
    ("half a status line", .garbage(Array("HTTP/1.1 2".utf8))),
    (
      "a chunk that breaks off",
      .garbage(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nabc".utf8))
    ),
    (
      "a chunk of no size",
      .garbage(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc".utf8))
    ),
  ]

  @Test(arguments: 0..<10) func `an answer that breaks off counts as no answer`(fault: Int) async throws {
    let server = try TransportServer { _, _ in Self.broken[fault].1 }
    let error = try #require(try await server.transport().failure(), "\(Self.broken[fault].0)")
    #expect(error.kind == .noAnswer)
    #expect(server.requests.count == 1, "repeated by itself after: \(Self.broken[fault].0)")
  }

  @Test(arguments: 0..<10) func `on a kept connection, a request without an answer is not repeated silently`(
    fault: Int
  ) async throws {
    let server = try TransportServer { _, before in before % 2 == 1 ? Self.broken[fault].1 : nil }
    let transport = try server.transport()
    for _ in 0..<3 {
      _ = try await transport.send(.upload(bytes: 5_000))
      #expect(await transport.failure(.upload(bytes: 5_000))?.kind == .noAnswer)
    }
    #expect(server.requests.count == 6)
    #expect(server.requests.allSatisfy { $0.body.count == 5_000 })
  }

  @Test func `a kept connection that the server has closed is not used again`() async throws {
    let (bodies, hour) = (Locked<[Int]>([]), 3_600_000)
    // It closes no connection by itself.
    let server = HTTPServer(
      limits: HTTPLimits(idleTimeoutMilliseconds: hour, readTimeoutMilliseconds: hour),
      handler: { request in
        bodies.withLock { $0.append(request.body.count) }
        return .ours
      })
    try server.start()
    defer { server.stop() }
    let transport = URLSessionTransport(base: try Self.base(of: server), timeout: 3_600)
    var failures = 0
    for _ in 0..<20 {
      #expect(try await transport.send(.upload()).status == 200)
      // The connection is kept. When this returns, the server has closed it.
      try server.dropConnections()
      do throws(TransportError) {
        #expect(try await transport.send(.upload()).status == 200)
      } catch {
        // The end of the connection is still on its way: the attempt ends without an answer.
        #expect(error.kind == .noAnswer)
        failures += 1
      }
    }
    #expect(failures < 20, "a transport that uses such a connection again fails each time")
    #expect(bodies.value.allSatisfy { $0 == 200 })
  }

  private static func base(of server: HTTPServer) throws -> URL {
    try #require(URL(string: "http://127.0.0.1:\(server.port)"))
  }

  @Test func `a port without a listener gives no answer`() async throws {
    let server = try TransportServer()
    let transport = try server.transport()
    server.stop()
    #expect(await transport.failure()?.kind == .noAnswer)
  }

  // MARK: Too long

  @Test func `an answer that announces too much is not read`() async throws {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"
    let server = try TransportServer { _, _ in
      .garbage(Array(head.utf8) + Array(repeating: 0x20, count: 70_000))
    }
    #expect(try await server.transport().failure()?.kind == .tooLong)
  }

  @Test func `an answer of chunks without end is cut off`() async throws {
    let chunk = Array("1000\r\n".utf8) + Array(repeating: 0x20, count: 4_096) + Array("\r\n".utf8)
    let head = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
    let server = try TransportServer { _, _ in
      .garbage(head + Array(repeatElement(chunk, count: 300).joined()))
    }
    #expect(try await server.transport().failure()?.kind == .tooLong)
  }

  @Test(arguments: [(1_000, true), (1_001, false)]) func `the limit is the greatest accepted length`(
    bytes: Int, isTaken: Bool
  ) async throws {
    let server = try TransportServer { _ in
      HTTPResponse(status: 200, body: Array(repeating: 0x20, count: bytes))
    }
    let transport = try server.transport(responseBytes: 1_000)
    if isTaken {
      #expect(try await transport.send(.upload()).body.count == bytes)
    } else {
      #expect(await transport.failure()?.kind == .tooLong)
    }
  }

  // MARK: Time and cancellation

  @Test func `an answer that stalls ends at the time limit`() async throws {
    let server = try TransportServer { _, _ in .stall(milliseconds: 3_600_000) }
    #expect(try await server.transport(timeout: 0.2).failure()?.kind == .timedOut)
  }

  @Test func `a time limit below a second is not cut to zero`() async throws {
    let server = try TransportServer { _, _ -> Fault? in .delay(milliseconds: 20) }
    #expect(try await server.transport(timeout: 0.99).send(.upload()).status == 200)
  }

  /// Its head comes at once, and the last of its bytes after a minute. On Linux, a URL session's own limit is for the
  /// pauses between bytes, and these are short.
  @Test func `an answer that drips ends at the time limit`() async throws {
    let server = HTTPServer(
      fault: { _ in .dribble(bytes: 100, milliseconds: 500) },
      handler: { _ in HTTPResponse(status: 200, body: Array(repeating: 0x20, count: 12_000)) })
    try server.start()
    defer { server.stop() }
    let transport = URLSessionTransport(base: try Self.base(of: server), timeout: 0.5)
    #expect(await transport.failure()?.kind == .timedOut)
  }

  @Test func `a request that is cancelled before it began is not sent`() async throws {
    let server = try TransportServer()
    let transport = try server.transport()
    let task = Task { () async -> TransportError? in
      while !Task.isCancelled { await Task.yield() }
      return await transport.failure()
    }
    task.cancel()
    #expect(await task.value?.kind == .cancelled)
    #expect(server.requests.isEmpty)
  }

  @Test func `a cancellation ends a request without an answer`() async throws {
    let server = try TransportServer { _, _ in .stall(milliseconds: 3_600_000) }
    let transport = try server.transport(timeout: 3_600)
    let task = Task { await transport.failure() }
    while server.requests.isEmpty { await Task.yield() }
    task.cancel()
    #expect(await task.value?.kind == .cancelled)
  }

  /// Foundation on Linux has hung here when the cancellation came together with the answer.
  @Test func `cancelling while the answer arrives never hangs`() async throws {
    let body = Array(repeating: UInt8(0x20), count: 60_000)
    let server = try TransportServer { _ in HTTPResponse(status: 200, body: body) }
    let transport = try server.transport()
    for turn in 0..<100 {
      let task = Task { () async -> Bool in
        do throws(TransportError) {
          return try await transport.send(.upload()).body.count == body.count
        } catch {
          return error.kind == .cancelled
        }
      }
      while server.requests.count <= turn { await Task.yield() }
      for _ in 0..<(turn % 20) { await Task.yield() }
      task.cancel()
      #expect(await task.value)
    }
    #expect(try await transport.send(.upload()).status == 200)
  }

  #if os(Linux) || os(macOS)
    /// Foundation on Linux ends the process if it gets a decision about a redirect of a task that was cancelled.
    @Test func `cancelling while a redirect arrives does not end the process`() async {
      await #expect(processExitsWith: .success) {
        let server = try TransportServer { _ in
          HTTPResponse(status: 302, headers: ["Location": "/again"], body: Array("moved".utf8))
        }
        let transport = try server.transport()
        await withTaskGroup(of: Void.self) { callers in
          for caller in 0..<4 {
            callers.addTask {
              for turn in 0..<500 { await Self.cancelEarly(transport, yields: (turn + caller) % 100) }
            }
          }
        }
        guard try await transport.send(.upload()).status == 302 else { exit(3) }
      }
    }

    /// Cancels a request after so many turns of other tasks, and requires one of the two outcomes.
    private static func cancelEarly(_ transport: URLSessionTransport, yields: Int) async {
      let task = Task { () async -> Bool in
        do throws(TransportError) {
          return try await transport.send(.upload()).status == 302
        } catch {
          return error.kind == .cancelled
        }
      }
      for _ in 0..<yields { await Task.yield() }
      task.cancel()
      guard await task.value else { exit(4) }
    }
  #endif
}

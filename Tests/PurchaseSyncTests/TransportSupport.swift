import Foundation
import LoopbackHTTP
import PurchaseSync
import Testing

/// What a server was asked, in order.
private final class RequestLog: @unchecked Sendable {
  private let lock = NSLock()
  private var list: [HTTPRequest] = []

  /// Returns how many came before.
  func add(_ request: HTTPRequest) -> Int {
    lock.lock()
    defer { lock.unlock() }
    list.append(request)
    return list.count - 1
  }

  var all: [HTTPRequest] {
    lock.lock()
    defer { lock.unlock() }
    return list
  }
}

/// A server that misbehaves, and what it was asked.
final class TransportServer: Sendable {
  private let log: RequestLog
  private let server: HTTPServer

  /// Answers each request.
  init(limits: HTTPLimits = HTTPLimits(), answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse) throws {
    let log = RequestLog()
    self.log = log
    server = HTTPServer(
      limits: limits,
      handler: { request in
        _ = log.add(request)
        return answer(request)
      })
    try server.start()
  }

  /// Does wrong what `faults` says of a request and of how many came before it; else it answers as the backend does.
  init(faults: @escaping @Sendable (HTTPRequest, Int) -> Fault?) throws {
    let log = RequestLog()
    self.log = log
    server = HTTPServer(fault: { request in faults(request, log.add(request)) }, handler: { _ in .ours })
    try server.start()
  }

  convenience init() throws { try self.init { _ in .ours } }

  deinit { server.stop() }

  func stop() { server.stop() }

  var requests: [HTTPRequest] { log.all }

  var base: URL { get throws { try #require(URL(string: "http://127.0.0.1:\(server.port)")) } }

  func transport(timeout: TimeInterval = 20, responseBytes: Int = 1 << 16) throws -> URLSessionTransport {
    URLSessionTransport(base: try base, timeout: timeout, responseBytes: responseBytes)
  }
}

extension HTTPResponse {
  /// What the backend would answer.
  static let ours = HTTPResponse(
    status: 200, headers: ["Content-Type": "application/json"],
    body: Array("{\"ledgerEpoch\":\"e\",\"verdicts\":[]}".utf8))
}

extension BackendRequest {
  /// An upload of so many bytes with a credential.
  static func upload(bytes: Int = 200, path: String = "v1/receipts") -> BackendRequest {
    BackendRequest(
      method: "POST", path: path, headers: ["Authorization": "Bearer token-alice"],
      body: Data(repeating: 0x41, count: bytes))
  }
}

extension URLSessionTransport {
  /// The error, or an issue if there was an answer.
  func failure(_ request: BackendRequest = .upload()) async -> TransportError? {
    do throws(TransportError) {
      let response = try await send(request)
      Issue.record("answered: \(response)")
      return nil
    } catch {
      return error
    }
  }
}

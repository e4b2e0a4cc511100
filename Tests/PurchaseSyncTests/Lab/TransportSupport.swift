import Foundation
import LoopbackHTTP
import PurchaseSQLite
import PurchaseSync
import Testing

/// The requests of a server, in order.
private final class RequestLog: Sendable {
  private let list = Locked<[HTTPRequest]>([])

  /// Returns the number of earlier requests.
  func add(_ request: HTTPRequest) -> Int {
    list.withLock {
      $0.append(request)
      return $0.count - 1
    }
  }

  var all: [HTTPRequest] { list.value }
}

/// A server that misbehaves, and its requests.
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

  /// Misbehaves as `faults` says for a request and the number of earlier ones; otherwise answers like the backend.
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
  /// The backend's answer.
  static let ours = HTTPResponse(
    status: 200, headers: ["Content-Type": "application/json"],
    body: Array("{\"ledgerEpoch\":\"e\",\"verdicts\":[]}".utf8))
}

extension BackendRequest {
  /// An upload of `bytes` bytes with a credential.
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

import Foundation
import LoopbackHTTP
import PurchaseSync
import VirtualTime

/// The network between one launch of an app and the mock server, without sockets. A request takes 50 ms.
struct LabNetwork: BackendTransport {
  let app: LabApp

  private static var latency: Int64 { 50 }

  func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
    let (lab, phone) = (app.phone.lab, app.phone)
    let path = "/" + (request.path.split(separator: "?").first ?? "")
    if phone.takes(.before(path: path)) { await app.die() }
    do {
      try await lab.queue.sleep(Self.latency)
      guard !phone.isOffline else { throw TransportError(reason: "the phone is offline") }
      let response = try await answer(to: request)
      if phone.takes(.after(path: path)) { await app.die() }
      return response
    } catch let error as TransportError {
      if phone.takes(.after(path: path)) { await app.die() }
      throw error
    } catch {
      throw TransportError(.cancelled, reason: "the task was cancelled")
    }
  }

  private func answer(to request: BackendRequest) async throws -> BackendResponse {
    let (server, queue) = (app.phone.lab.server, app.phone.lab.queue)
    return try await server.answer(HTTPRequest(request)) {
      try await queue.sleep($0)
    } handling: {
      server.handler($0)
    }
  }
}

extension MockServer {
  /// The answer without a fault.
  func response(to request: BackendRequest) -> BackendResponse {
    BackendResponse(handler(HTTPRequest(request)))
  }
}

extension HTTPRequest {
  init(_ request: BackendRequest) {
    let parts = request.path.split(separator: "?", maxSplits: 1)
    func decoded(_ text: Substring) -> String { text.removingPercentEncoding ?? String(text) }
    var query: [String: String] = [:]
    for pair in (parts.count > 1 ? parts[1] : "").split(separator: "&") {
      let sides = pair.split(separator: "=", maxSplits: 1)
      query[decoded(sides[0])] = sides.count > 1 ? decoded(sides[1]) : ""
    }
    self.init(
      method: request.method, path: "/" + decoded(parts.first ?? ""), query: query,
      headers: HTTPHeaders(
        request.headers.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }),
      body: Array(request.body))
    target = "/" + request.path
  }
}

extension BackendResponse {
  init(_ response: HTTPResponse) {
    self.init(
      status: response.status, retryAfter: response.headers["Retry-After"], date: response.headers["Date"],
      contentType: response.headers["Content-Type"], signature: response.headers[ReplySignature.field],
      body: Data(response.body))
  }
}

import Foundation
import LoopbackHTTP
import PurchaseSQLite
public import PurchaseSync

/// A protocol of your own next to that of the mock backend.
extension MockServer {
  /// Answers one request. Called on several threads; over HTTP on the connection's. It may use the server's `withStore`.
  public typealias Service = @Sendable (BackendRequest) -> BackendResponse

  /// Answers requests to a path, such as `/iap/verify`, in place of the mock backend: the mock of your company's server.
  /// Fault plans strike these requests as well. Over HTTP, the request has only the headers that a backend needs.
  public func serve(_ path: String, _ answer: @escaping Service) {
    mock.withLock { $0.services[path] = answer }
  }
}

extension BackendRequest {
  init(_ request: HTTPRequest) {
    var headers: [String: String] = [:]
    for field in request.headers.fields.reversed() { headers[field.name] = field.value }
    self.init(
      method: request.method, path: String(request.path.drop { $0 == "/" }), headers: headers,
      body: Data(request.body))
  }
}

extension HTTPResponse {
  init(_ response: BackendResponse) {
    self.init(status: response.status, body: Array(response.body))
    headers["Content-Type"] = response.contentType
    headers["Retry-After"] = response.retryAfter
  }
}

public import Foundation

/// Carries requests to the backend. An app can bring its own.
public protocol BackendTransport: Sendable {
  /// Sends one request and returns the answer, whatever its status. Throws if there was none.
  func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse
}

/// A request to the backend.
public struct BackendRequest: Sendable {
  /// Such as POST.
  public var method: String
  /// From the base URL on, such as `v1/receipts`.
  public var path: String
  /// Header fields; the value of `Authorization` is a credential.
  public var headers: [String: String]
  /// The JSON; empty for GET.
  public var body: Data

  /// A request.
  public init(method: String, path: String, headers: [String: String], body: Data) {
    self.method = method
    self.path = path
    self.headers = headers
    self.body = body
  }
}

/// The backend's answer.
public struct BackendResponse: Sendable {
  /// The HTTP status.
  public var status: Int
  /// The value of `Retry-After`, if any.
  public var retryAfter: String?
  /// The body.
  public var body: Data

  /// An answer.
  public init(status: Int, retryAfter: String? = nil, body: Data) {
    self.status = status
    self.retryAfter = retryAfter
    self.body = body
  }
}

/// There was no answer.
public struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Why, without credentials.
  public var reason: String
  /// States why.
  public init(reason: String) { self.reason = reason }
  /// The reason.
  public var description: String { reason }
}

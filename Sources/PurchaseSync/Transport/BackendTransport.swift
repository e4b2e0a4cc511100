public import Foundation

/// Carries requests to the backend. An app can bring its own.
///
/// A transport sends each request once: it neither repeats nor follows anything by itself, since the engine counts what
/// is sent. It bounds how long an attempt may take and how long an answer may be, and ends promptly when its task is
/// cancelled.
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
  /// The value of `Date`, if any: what a `Retry-After` in form of a date is compared with.
  public var date: String?
  /// The value of `Content-Type`, if any.
  public var contentType: String?
  /// The body.
  public var body: Data

  /// An answer.
  public init(
    status: Int, retryAfter: String? = nil, date: String? = nil, contentType: String? = nil, body: Data
  ) {
    self.status = status
    self.retryAfter = retryAfter
    self.date = date
    self.contentType = contentType
    self.body = body
  }
}

extension BackendRequest: CustomStringConvertible {
  /// Method, path and size, never a credential or a proof.
  public var description: String { "\(method) \(path), \(body.count) bytes" }
}

extension BackendResponse: CustomStringConvertible {
  /// Status and size, never the body.
  public var description: String { "HTTP \(status), \(body.count) bytes" }
}

/// There was no answer.
public struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What kind of failure it was. An open set.
  public struct Kind: RawRepresentable, Hashable, Sendable {
    /// The word for logs.
    public var rawValue: String
    /// Any word, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Nobody answered, or the answer broke off.
    public static let noAnswer = Kind(rawValue: "noAnswer")
    /// The attempt took too long.
    public static let timedOut = Kind(rawValue: "timedOut")
    /// The answer is longer than any of ours.
    public static let tooLong = Kind(rawValue: "tooLong")
    /// The request cannot be sent as it is, now or later.
    public static let unsendable = Kind(rawValue: "unsendable")
    /// The task that waited was cancelled.
    public static let cancelled = Kind(rawValue: "cancelled")
  }

  /// What kind of failure it was.
  public var kind: Kind
  /// Why, without credentials.
  public var reason: String

  /// States why.
  public init(_ kind: Kind = .noAnswer, reason: String) {
    self.kind = kind
    self.reason = reason
  }

  /// The reason.
  public var description: String { reason }
}

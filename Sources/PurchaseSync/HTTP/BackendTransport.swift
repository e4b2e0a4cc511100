public import Foundation

/// Carries requests to the backend. An app can bring its own.
///
/// A transport sends each request once. It neither repeats requests nor follows redirects by itself, because
/// the engine counts the requests. It limits the time of an attempt and the length of an answer, and ends
/// promptly when its task is cancelled.
public protocol BackendTransport: Sendable {
  /// Sends one request and returns the answer, whatever its status. Throws if there was no answer.
  func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse
}

/// A request to the backend.
public struct BackendRequest: Sendable {
  /// The HTTP method, such as POST.
  public var method: String
  /// The path relative to the base URL, such as `v1/receipts`.
  public var path: String
  /// Header fields. The value of `Authorization` is a credential.
  public var headers: [String: String]
  /// The JSON body; empty for GET.
  public var body: Data

  /// Creates a request.
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
  /// The value of `Date`, if any. A `Retry-After` in the form of a date is compared with it.
  public var date: String?
  /// The value of `Content-Type`, if any.
  public var contentType: String?
  /// The value of ``ReplySignature/field``, if any. Only a ``ReplyVerifier`` needs it.
  public var signature: String?
  /// The body.
  public var body: Data

  /// Creates an answer.
  public init(
    status: Int, retryAfter: String? = nil, date: String? = nil, contentType: String? = nil,
    signature: String? = nil, body: Data
  ) {
    self.status = status
    self.retryAfter = retryAfter
    self.date = date
    self.contentType = contentType
    self.signature = signature
    self.body = body
  }
}

extension BackendRequest: CustomStringConvertible, CustomReflectable {
  /// Method, path and size, never a credential or a proof.
  public var description: String { "\(method) \(path), \(body.count) bytes" }
  /// As the description.
  public var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}

extension BackendResponse: CustomStringConvertible, CustomReflectable {
  /// Status and size, never the body.
  public var description: String { "HTTP \(status), \(body.count) bytes" }
  /// As the description.
  public var customMirror: Mirror { Mirror(self, children: ["response": description]) }
}

/// The backend gave no answer.
public struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of a failure. An open set.
  public struct Kind: RawRepresentable, Hashable, Sendable {
    /// The word for logs.
    public var rawValue: String
    /// Any word, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// There was no answer, or it broke off.
    public static let noAnswer = Kind(rawValue: "noAnswer")
    /// The attempt took too long.
    public static let timedOut = Kind(rawValue: "timedOut")
    /// The answer is longer than any answer of the backend.
    public static let tooLong = Kind(rawValue: "tooLong")
    /// The request cannot be sent as it is, now or later.
    public static let unsendable = Kind(rawValue: "unsendable")
    /// The answer is not the backend's, says the ``ReplyVerifier``.
    public static let unverified = Kind(rawValue: "unverified")
    /// The task that waited was cancelled.
    public static let cancelled = Kind(rawValue: "cancelled")
  }

  /// The kind of failure.
  public var kind: Kind
  /// The reason, without credentials.
  public var reason: String

  /// Creates an error.
  public init(_ kind: Kind = .noAnswer, reason: String) {
    self.kind = kind
    self.reason = reason
  }

  /// The reason.
  public var description: String { reason }
}

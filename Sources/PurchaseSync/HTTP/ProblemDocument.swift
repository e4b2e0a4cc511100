/// An error answer of the backend: `application/problem+json` (RFC 9457).
public struct ProblemDocument: Codable, Sendable, Hashable {
  /// The kind of problem: a word of this protocol, such as `auth`.
  public var type: String
  /// One line for people.
  public var title: String
  /// The HTTP status, repeated.
  public var status: Int
  /// The exact problem and what to do.
  public var detail: String?

  /// Creates a problem.
  public init(type: String, title: String, status: Int, detail: String? = nil) {
    self.type = type
    self.title = title
    self.status = status
    self.detail = detail
  }

  /// The credentials are missing, wrong, or of another account.
  public static let auth = "auth"
  /// The credential in `Account-Authorization`, next to the device's own, is wrong or out of date.
  public static let account = "account"
  /// The device's name is known with another secret.
  public static let device = "device"
  /// The backend does not speak this version of the protocol: it is older, or the app is too old.
  public static let protocolVersion = "protocol"
}

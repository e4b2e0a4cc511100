/// An error as the backend tells it: `application/problem+json` (RFC 9457).
public struct ProblemDocument: Codable, Sendable, Hashable {
  /// What kind of problem: a word of this protocol, such as `auth`.
  public var type: String
  /// One line for people.
  public var title: String
  /// The HTTP status, repeated.
  public var status: Int
  /// What exactly, and what to do.
  public var detail: String?

  /// A problem.
  public init(type: String, title: String, status: Int, detail: String? = nil) {
    self.type = type
    self.title = title
    self.status = status
    self.detail = detail
  }

  /// The credentials are missing, wrong or for somebody else.
  public static let auth = "auth"
}

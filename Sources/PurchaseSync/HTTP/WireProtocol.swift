/// The version of the wire protocol, and the header fields that name it.
///
/// Within a version both sides ignore members and words that they do not know. A change that an old app or an old backend
/// could take wrongly gets a new version.
public enum WireProtocol {
  /// The version that this package speaks.
  public static let version = 1
  /// The header field with the version of the protocol, in each request and each answer of the mock backend.
  public static let versionField = "Purchase-Sync-Protocol"
  /// The header field with name and version of the sender.
  public static let clientField = "Purchase-Sync-Client"
  /// The value of `clientField`.
  public static let client = "purchase-sync/1"

  /// The fields of each request.
  static var headers: [String: String] { [versionField: String(version), clientField: client] }
}

extension BackendRequest {
  /// The header with the credential of the account that is signed in on a device, next to the device's own in
  /// `Authorization`.
  package static var signedInHeader: String { "Account-Authorization" }
  /// The header with the device's credential, next to an account's in `Authorization`. The name of the device is in the
  /// body of each upload: without its secret, anyone who reads the name could bind it to a secret first.
  package static var deviceHeader: String { "Device-Authorization" }
}

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

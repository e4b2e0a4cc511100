/// Returns the `Authorization` token of an account; nil if the account is signed out. Called once for all requests that
/// follow from a wake or a purchase, and again after a minute, after a refusal, and after a sign-in.
///
/// If the backend refused a token, the request names it: return a newer one, or nil if only a person can sign in again.
public typealias CredentialSource = @Sendable (_ request: CredentialRequest) async -> String?

/// The engine asks for the token of an account.
public struct CredentialRequest: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// The account, also when another one is signed in now.
  public var account: String
  /// The token that the backend refused last, if it refused the last one. A secret: do not log it.
  public var refusedToken: String?

  /// A request, for an app's own tests.
  public init(account: String, refusedToken: String? = nil) {
    self.account = account
    self.refusedToken = refusedToken
  }

  /// Whether the backend refused the last token.
  public var isRefused: Bool { refusedToken != nil }

  /// Never the token.
  public var description: String { "credentials of \(account)" + (isRefused ? ", refused" : "") }
  /// Without the token.
  public var customMirror: Mirror { Mirror(self, children: ["account": account, "isRefused": isRefused]) }
}

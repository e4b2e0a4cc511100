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

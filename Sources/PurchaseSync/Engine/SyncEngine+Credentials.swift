import Foundation
import PurchaseQueue

/// The credentials of requests.
extension SyncEngine {
  /// The app's answer to a request for an account's token.
  enum Credential {
    case token(AccountCredential)
    /// The account is signed out.
    case none
    /// The app did not answer in time, or the task was cancelled.
    case late
  }

  /// The token of this account, also when another one is signed in. A closure of the app may hang, as a store may.
  func credential(of account: String) async -> Credential {
    let credentials = ports.credentials
    let limit = limit(configuration.credentialTimeLimit, of: .credentials, about: account)
    let request = CredentialRequest(account: account, refusedToken: decisions.tokens.refused(of: account))
    saw(.calls(.credentials))
    let answer = await limit.answer { () async -> String?? in
      let token = await credentials(request)
      // One that ends because it was left behind has not returned.
      return token == nil && Task.isCancelled ? nil : .some(token)
    }
    switch answer {
    case .some(.some(let token)): return .token(AccountCredential(account: account, token: token))
    case .some(.none): return .none
    case .none: return .late
    }
  }

  /// The identity of this installation's device; nil while the vault that holds it is locked.
  func identity(in file: SyncFile) throws(QueueError) -> DeviceIdentity? {
    let uuid = configuration.system.uuid
    return try file.identity { DeviceIdentity(from: uuid) }
  }

  /// What an upload can say of the account that is signed in on the device.
  enum Present {
    case account(AccountCredential)
    /// No account is, or its token has been refused for an hour.
    case none
    /// The token does not come.
    case late
  }

  /// The account that is signed in now, for an upload of the device lane: the backend says what is this account's own, and
  /// credits nothing to it. Without it, the final answer would be that the account's own purchases are another's:
  /// while the token does not come, the upload waits.
  func present(in lane: Lane) async -> Present {
    guard lane == .device, let account = configuration.currentAccount?() else { return .none }
    return await present(account)
  }

  func present(_ account: String) async -> Present {
    switch await credential(of: account) {
    case .none: return .none
    case .late: return .late
    case .token(let credential):
      if decisions.tokens.isRefusedForLong(credential) { return .none }
      return .account(credential)
    }
  }

  /// The backend's answer to an upload says something about the tokens in it.
  func tokensEnded(_ result: UploadClassification, of sender: BackendSender) {
    switch (result, sender) {
    case (.verdicts, .account(let account, _)), (.verdicts, .device(_, let account?)):
      tokenEnded(.taken, account)
    case (.failure(.tokenRefused), .account(let account, _)): tokenEnded(.refused, account)
    case (.failure(.accountRefused), .device(_, let account?)): tokenEnded(.refused, account)
    default: break
    }
  }

  func tokenEnded(_ end: TokenBook.End, _ account: AccountCredential) {
    decisions.tokens.ended(end, account, at: uptime)
  }

  /// The failure of an upload or an adoption without credentials.
  static func failure(of credential: Credential, in lane: Lane) -> UploadFailure {
    if case .none = credential { return UploadFailure.signInNeeded.inLane(lane) }
    if Task.isCancelled { return .interrupted }
    return .retry(reason: "the credentials did not come in time", retryAfterMilliseconds: nil)
  }

  /// The credential of an account that asks for its orders.
  func token(of account: String) async throws(SyncError) -> AccountCredential {
    switch await credential(of: account) {
    case .token(let credential): return credential
    case .none: throw .signInNeeded(account: account)
    case .late: throw .backendUnreachable(reason: "the credentials did not come in time")
    }
  }
}

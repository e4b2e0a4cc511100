import Foundation
import PurchaseQueue

/// The credentials of requests.
extension SyncEngine {
  /// The app's answer to a request for an account's token.
  enum Credential {
    /// The value of `Authorization`.
    case authorization(String)
    /// The account is signed out.
    case none
    /// The app did not answer in time, or the task was cancelled.
    case late
  }

  /// The token of this account, also when another one is signed in. A closure of the app may hang, as a store may.
  func credential(of account: String) async -> Credential {
    let credentials = self.credentials
    let limit = limit(configuration.credentialTimeLimit, of: .credentials, about: account)
    let request = CredentialRequest(account: account, refusedToken: refusedTokens[.account(account)]?.token)
    saw(.calls(.credentials))
    let answer = await limit.answer { () async -> String?? in
      let token = await credentials(request)
      // One that ends because it was left behind has not returned.
      return token == nil && Task.isCancelled ? nil : .some(token)
    }
    switch answer {
    case .some(.some(let token)): return .authorization(Self.bearer + token)
    case .some(.none): return .none
    case .none: return .late
    }
  }

  /// The credential of the lane's owner.
  func credential(of lane: Lane) async -> Credential {
    if let account = lane.account { return await credential(of: account) }
    do {
      return try withFile { (file) throws(QueueError) in try identity(in: file) }
        .map { .authorization($0.authorization) } ?? .late
    } catch {
      report(error)
      return .late
    }
  }

  /// The identity of this installation's device; nil while the vault that holds it is locked.
  func identity(in file: SyncFile) throws(QueueError) -> DeviceIdentity? {
    let uuid = configuration.system.uuid
    return try file.identity { DeviceIdentity(from: uuid) }
  }

  /// What an upload can say of the account that is signed in on the device.
  enum Present {
    /// It is signed in, and this is its authorization.
    case account(PresentAccount)
    /// No account is, or its token has been refused for an hour.
    case none
    /// The token does not come.
    case late
  }

  /// An account with its authorization. Never logged.
  struct PresentAccount {
    var account: String
    var authorization: String
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
    case .authorization(let authorization):
      // A refused token is sent again, at the pace of the lane: the backend may take it by now, and only it can say so.
      let refused = refusedTokens[.account(account)]
      if let refused, refused.isLasting, authorization == Self.bearer + refused.token { return .none }
      return .account(PresentAccount(account: account, authorization: authorization))
    }
  }

  /// The backend's answer to an upload says something about the tokens in it.
  func heard(_ result: UploadClassification, _ upload: PreparedUpload, in lane: Lane) {
    switch result {
    case .verdicts:
      heard(.taken, upload.authorization, of: lane.account)
      if let signedIn = upload.signedIn { heard(.taken, signedIn.authorization, of: signedIn.account) }
    case .failure(.tokenRefused): heard(.refused, upload.authorization, of: lane.account)
    case .failure(.accountRefused):
      if let signedIn = upload.signedIn { heard(.refused, signedIn.authorization, of: signedIn.account) }
    case .failure: break
    }
  }

  private static let bearer = "Bearer "

  /// What the backend did with a token.
  enum TokenEnd { case taken, refused }

  /// Remembers a token that the backend refused, until it takes one of this account.
  func heard(_ end: TokenEnd, _ authorization: String, of account: String?) {
    guard let account, authorization.hasPrefix(Self.bearer) else { return }
    guard end == .refused else { return refusedTokens[.account(account)] = nil }
    let token = String(authorization.dropFirst(Self.bearer.count))
    refusedTokens[.account(account), default: RefusedToken(token, at: uptime)].refused(token, at: uptime)
  }

  func heard(_ response: BackendResponse, _ authorization: String, of account: String) {
    if ReplyReading.isRefusal(response) {
      heard(.refused, authorization, of: account)
    } else if (200...299).contains(response.status) {
      heard(.taken, authorization, of: account)
    }
  }

  /// Sends a request of an account. If its token is refused, it is sent once more with a newer one.
  func answer(
    of account: String, to request: @Sendable (_ authorization: String) -> BackendRequest
  ) async throws(SyncError) -> Result<BackendResponse, TransportError> {
    var result = Result<BackendResponse, TransportError>.failure(TransportError(reason: "nothing was sent"))
    for _ in 0..<2 {
      let authorization = try await authorization(of: account)
      guard !isShutDown else { throw .queue(.closed(path: configuration.path)) }
      var asked = request(authorization)
      asked.account = account
      result = await answer(to: asked)
      guard case .success(let response) = result else { return result }
      heard(response, authorization, of: account)
      guard ReplyReading.isRefusal(response) else { return result }
    }
    return result
  }

  /// The failure of an upload or an adoption without credentials.
  static func failure(of credential: Credential, in lane: Lane) -> UploadFailure {
    if case .none = credential { return UploadFailure.signInNeeded.inLane(lane) }
    if Task.isCancelled { return .interrupted }
    return .retry(reason: "the credentials did not come in time", retryAfterMilliseconds: nil)
  }

  /// The authorization of an account that asks for its orders.
  func authorization(of account: String) async throws(SyncError) -> String {
    switch await credential(of: account) {
    case .authorization(let authorization): return authorization
    case .none: throw .signInNeeded(account: account)
    case .late: throw .backendUnreachable(reason: "the credentials did not come in time")
    }
  }
}

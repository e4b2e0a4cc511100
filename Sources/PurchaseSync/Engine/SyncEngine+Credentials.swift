import Foundation
import PurchaseQueue

/// The credentials of requests.
extension SyncEngine {
  /// The token of this account, also when another one is signed in. A closure of the app may hang, as a store may.
  func credential(of account: String) async -> CredentialAnswer {
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

  /// The credential of an account that asks for its orders.
  func token(of account: String) async throws(SyncError) -> AccountCredential {
    switch await credential(of: account) {
    case .token(let credential): return credential
    case .none: throw .signInNeeded(account: account)
    case .late: throw .backendUnreachable(reason: "the credentials did not come in time")
    }
  }
}

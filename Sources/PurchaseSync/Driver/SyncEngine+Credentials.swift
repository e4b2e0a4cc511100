import Foundation
import PurchaseQueue

/// In whose name a request goes.
extension SyncEngine {
  /// What came of asking the app for an account's token.
  enum Credential {
    /// The value of `Authorization`.
    case authorization(String)
    /// Nobody is signed in to the account.
    case none
    /// The app did not answer in time, or nobody waits any more.
    case late
  }

  /// The account's own: never that of whoever is signed in now. A closure of the app may hang as a store does.
  func credential(of account: String) async -> Credential {
    let credentials = self.credentials
    let limit = TimeLimit(
      milliseconds: configuration.credentialMilliseconds, patience: configuration.surroundings.patience)
    let answer = await limit.answer { () async -> String?? in .some(await credentials(account)) }
    switch answer {
    case .some(.some(let token)): return .authorization("Bearer " + token)
    case .some(.none): return .none
    case .none: return .late
    }
  }

  /// The lane's own.
  func credential(of lane: Lane) async -> Credential {
    switch lane {
    case .account(let account): return await credential(of: account)
    case .device:
      do {
        let device = try withFile { (file) throws(QueueError) in
          try file.device(proposing: configuration.surroundings.uuid())
        }
        return device.map { .authorization("Device " + $0.uuidString) } ?? .late
      } catch {
        report(error)
        return .late
      }
    }
  }

  /// What missing credentials mean for an upload or a claim.
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

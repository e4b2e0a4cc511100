public import PurchaseQueue

/// Why the engine could not do what the app asked for. Nothing that was stored before is lost by it.
@nonexhaustive
public enum SyncError: Error, Hashable, Sendable {
  /// The queue's file.
  case queue(QueueError)
  /// The backend could not be reached, or did not answer with ours. Try again.
  case backendUnreachable(reason: String)
  /// The backend refused: its status, and its problem's title.
  case backendRefused(status: Int, reason: String)
  /// There are no credentials for the account.
  case signInNeeded(account: String)
  /// The store did not do what it was asked for. It is asked again at the next wake-up.
  case store(reason: String)
  /// A value that cannot be written as JSON.
  case encoding(what: String)
}

extension SyncError: CustomStringConvertible {
  /// What, where, and what to do.
  public var description: String {
    switch self {
    case .queue(let error): error.description
    case .backendUnreachable(let reason): "the backend did not answer: \(reason). Try again"
    case .backendRefused(let status, let reason): "the backend refused with \(status): \(reason)"
    case .signInNeeded(let account): "there are no credentials for account \(account). Sign in first"
    case .store(let reason): "the App Store failed: \(reason). It is asked again at the next wake-up"
    case .encoding(let what): "\(what) cannot be written as JSON"
    }
  }
}

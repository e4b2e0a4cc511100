public import PurchaseQueue

/// Why the engine could not do what the app asked for. Everything stored before stays stored.
@nonexhaustive
public enum SyncError: Error, Hashable, Sendable {
  /// The queue's file could not be read or written.
  case queue(QueueError)
  /// The backend could not be reached, or the answer was not one of its protocol. Try again.
  case backendUnreachable(reason: String)
  /// The backend refused the request, with this status and the title of its problem document.
  case backendRefused(status: Int, reason: String)
  /// The backend's order cannot be paid: it has the number or the account token of another account's order, or is no new
  /// one. Nothing was paid. The backend needs a repair.
  case orderUnusable(reason: String)
  /// There are no credentials for the account.
  case signInNeeded(account: String)
  /// The store failed to do what the engine asked. The engine asks again at the next wake-up.
  case store(reason: String)
  /// The store did not begin a payment. Nothing was charged.
  case storeRefused(StoreError)
  /// A value cannot be written as JSON.
  case encoding(what: String)
}

extension SyncError: CustomStringConvertible {
  /// What failed, where, and what to do.
  public var description: String {
    switch self {
    case .queue(let error): error.description
    case .backendUnreachable(let reason): "the backend did not answer: \(reason). Try again"
    case .backendRefused(let status, let reason): "the backend refused with \(status): \(reason)"
    case .orderUnusable(let reason): "the backend's order cannot be paid: \(reason). Repair the backend"
    case .signInNeeded(let account): "there are no credentials for account \(account). Sign in first"
    case .store(let reason): "the App Store failed: \(reason). The engine asks again at the next wake-up"
    case .storeRefused(let error):
      "the App Store refused a payment: \(error.description). Nothing was charged"
    case .encoding(let what): "\(what) cannot be written as JSON"
    }
  }
}

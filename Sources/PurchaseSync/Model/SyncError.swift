public import Foundation
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

/// Texts that an app can show: what happened, what about the money, and what to do. They name no path and no account;
/// `description` is the text for logs.
extension SyncError: LocalizedError {
  /// What happened.
  public var errorDescription: String? {
    switch self {
    case .queue(.diskFull): "There is no space on this device."
    case .queue(.newerSchema): "The purchases on this device were stored by a newer version of the app."
    case .queue(.queueFull): "Too many purchases wait for their delivery."
    case .queue: "The purchases on this device cannot be read or written now."
    case .backendUnreachable: "The shop cannot be reached."
    case .backendRefused, .orderUnusable: "The shop does not offer this purchase now."
    case .signInNeeded: "You are signed out."
    case .store: "The App Store did not say how this ended."
    case .storeRefused(let error): error.text
    case .encoding: "This purchase cannot be ordered."
    }
  }

  /// What about the money.
  public var failureReason: String? {
    switch self {
    // These come before any payment.
    case .backendUnreachable, .backendRefused, .orderUnusable, .signInNeeded, .encoding, .storeRefused:
      "Nothing was charged."
    case .queue, .store: "What was paid is not lost: the App Store keeps it until it is delivered."
    }
  }

  /// What to do.
  public var recoverySuggestion: String? {
    switch self {
    case .queue(.diskFull): "Free some space, and open the app again."
    case .queue(.newerSchema): "Update the app."
    case .queue(.queueFull): "Wait until the shop can be reached, and try again."
    case .queue: "Restart this device, and open the app again. If that does not help, contact support."
    case .backendUnreachable: "Check your connection, and try again."
    case .backendRefused, .orderUnusable, .encoding: "Try again later, or contact support."
    case .signInNeeded: "Sign in, and try again."
    // It may be paid: nothing here may invite to pay once more.
    case .store: "Wait some minutes: what you have paid comes by itself."
    case .storeRefused(let error): error.advice
    }
  }
}

public import Foundation
import PurchaseQueue

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

import PurchaseQueue
import PurchaseSQLite

/// The accounts that are signed in to the app, and the phone's clock.
final class PhoneState: Sendable {
  private struct Accounts {
    var signedIn: Set<String>
    var current: String?
  }

  private let accounts: Locked<Accounts>
  private let offset: Locked<Int64>

  init(signedIn: [String], clockShift: Int64) {
    accounts = Locked(Accounts(signedIn: Set(signedIn), current: signedIn.first))
    offset = Locked(clockShift)
  }

  /// The bearer token of an account that is signed in.
  func credential(of account: String) -> String? {
    accounts.value.signedIn.contains(account) ? "token-" + account : nil
  }

  /// The current user of an app that knows one at a time: the first, then the last to sign in.
  var user: String? { accounts.value.current }

  /// Signs in, and becomes the current user even if others are signed in too.
  func signIn(_ account: String) {
    accounts.withLock {
      $0.signedIn.insert(account)
      $0.current = account
    }
  }

  func signOut(_ account: String) {
    accounts.withLock {
      $0.signedIn.remove(account)
      if $0.current == account { $0.current = nil }
    }
  }

  func jump(by milliseconds: Int64) { offset.withLock { $0 += milliseconds } }

  func now() -> Timestamp { Timestamp.wallClock().adding(milliseconds: offset.value) }
}

import Foundation
import PurchaseQueue

/// Who is signed in to the app, and what the phone's clock says.
final class PhoneState: Sendable {
  private let lock = NSLock()
  private nonisolated(unsafe) var accounts: Set<String>
  private nonisolated(unsafe) var current: String?
  private nonisolated(unsafe) var offset: Int64

  init(signedIn: [String], clockShift: Int64) {
    unsafe accounts = Set(signedIn)
    unsafe current = signedIn.first
    unsafe offset = clockShift
  }

  /// The bearer token of an account that is signed in.
  func credential(of account: String) -> String? {
    lock.withLock { unsafe accounts.contains(account) ? "token-" + account : nil }
  }

  /// Whom an app takes for its user that knows one at a time: the first, or who came last.
  var user: String? { lock.withLock { unsafe current } }

  /// From now on the user, also where somebody else is signed in too.
  func signIn(_ account: String) {
    lock.withLock {
      unsafe accounts.insert(account)
      unsafe current = account
    }
  }

  func signOut(_ account: String) {
    lock.withLock {
      unsafe accounts.remove(account)
      if unsafe current == account { unsafe current = nil }
    }
  }

  func jump(by milliseconds: Int64) { lock.withLock { unsafe offset += milliseconds } }

  func now() -> Timestamp { Timestamp.wallClock().adding(milliseconds: lock.withLock { unsafe offset }) }
}

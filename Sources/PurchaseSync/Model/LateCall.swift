public import Foundation
import PurchaseQueue
import PurchaseSQLite

/// A call of the app's own code, of the store, or of the backend that did not return within its time limit. It is left
/// behind, and holds up nothing else. The row stays until the call returns, or until another of its kind does; one of
/// `fulfil` until it returns.
public struct LateCall: Sendable, Hashable {
  /// What was called.
  @nonexhaustive
  public enum Callback: String, Sendable, Hashable, CaseIterable {
    /// The shop's `fulfil`. Its outcome waits for it: see ``SyncConfiguration/fulfilmentTimeLimit``.
    case fulfil
    /// A payment sheet that has been open for ten minutes. The store is listed as after its end; no other sale waits for it.
    case sheet
    /// The app's credentials: see ``SyncConfiguration/credentialTimeLimit``.
    case credentials
    /// The app's answer whose an account token is: see ``SyncConfiguration/accountForToken``.
    case accountForToken
    /// A function of the store: see ``SyncConfiguration/storeTimeLimit``.
    case store
    /// The backend's transport: see ``SyncConfiguration/requestTimeLimit``.
    case transport
    /// A function of a ``PurchaseBackend``: see ``SyncConfiguration/backendTimeLimit``.
    case backend
  }

  /// What was called.
  public var callback: Callback
  /// What the call was about: a transaction's key, an order's number, an account, or the name of a function. Never a token or a proof.
  public var subject: String
  /// When the call began, the first of several in a row, by the device's clock.
  public var since: Date

  /// A late call, for an app's own previews and tests.
  public init(_ callback: Callback, about subject: String, since: Date) {
    (self.callback, self.subject, self.since) = (callback, subject, since)
  }
}

/// The calls that did not return within their time limits.
final class LateCalls: Sendable {
  private struct Name: Hashable {
    var callback: LateCall.Callback
    var subject: String
  }

  private let calls = Locked<[Name: LateCall]>([:])

  /// Oldest first.
  var rows: [LateCall] {
    calls.value.values.sorted { ($0.since, $0.subject) < ($1.since, $1.subject) }
  }

  /// One more call was left behind. The first of them in a row counts.
  fileprivate func add(_ call: LateCall) {
    calls.withLock { calls in
      let name = Name(callback: call.callback, subject: call.subject)
      calls[name] = calls[name] ?? call
    }
  }

  /// A call has returned in time.
  fileprivate func forget(_ callback: LateCall.Callback, _ subject: String) {
    calls.withLock { $0[Name(callback: callback, subject: subject)] = nil }
  }
}

/// Notes the late calls of one kind.
struct LateCallWatch: Sendable {
  let calls: LateCalls
  let callback: LateCall.Callback
  let subject: String
  let now: @Sendable () -> Timestamp

  func returned() { calls.forget(callback, subject) }
  func isLate(since moment: Timestamp) {
    calls.add(LateCall(callback, about: subject, since: moment.date))
  }
}

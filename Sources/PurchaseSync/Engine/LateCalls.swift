import Foundation
import PurchaseQueue
import PurchaseSQLite

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

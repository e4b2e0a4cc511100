package import PurchaseQueue

/// How many requests after a failure an installation may send, by the device's clock.
///
/// Saved requests can be used at once, and come back one at a time: a wake waits for the next one at most as long as that
/// takes, however many came before it. A storage keeps the one number and commits it *before* the request, so a kill
/// refills nothing. If the clock jumps forward, at most what can be saved comes back. If it jumps back, the moment
/// follows; where no process saw by how much, all is spent and comes back from the new time on.
package struct RetryBudget: Hashable, Sendable, Codable {
  /// The purpose of a request.
  package enum Purpose: Hashable, Sendable, CaseIterable {
    /// Something failed, and it is time again, or a wake came.
    case retry
    /// A new purchase, or a user who asks. These cost nothing: each follows an act of a person, and the pace limits them
    /// to one a second.
    case person
  }

  /// When all saved requests will be there again.
  package private(set) var fullAt: Timestamp

  /// Nothing spent yet.
  package init() { self.init(fullAt: Timestamp(milliseconds: 0)) }

  /// As it was stored. Any moment is a budget.
  package init(fullAt: Timestamp) { self.fullAt = fullAt }

  /// Takes one request out of the budget. If none is left, returns false and spends nothing.
  package mutating func spend(_ purpose: Purpose, now: Timestamp, policy: RetryPolicy) -> Bool {
    guard purpose == .retry else { return true }
    guard nextAllowed(purpose, now: now, policy: policy) <= now else { return false }
    fullAt = max(bounded(now, policy), now).adding(milliseconds: policy.budgetIntervalMilliseconds)
    return true
  }

  /// The clock went back: what is spent comes back when it would have.
  mutating func follow(_ jump: ClockJump) { fullAt = fullAt.adding(milliseconds: -jump.distance) }

  /// The clock may have gone back.
  package mutating func clamp(now: Timestamp, policy: RetryPolicy) { fullAt = bounded(now, policy) }

  /// Whether it can only be of a clock that has gone back since.
  func isAhead(of now: Timestamp, policy: RetryPolicy) -> Bool { fullAt > bounded(now, policy) }

  /// When `spend` will return true, if nothing else is spent: `now`, or later, by at most the time in which one request
  /// comes back.
  package func nextAllowed(_ purpose: Purpose, now: Timestamp, policy: RetryPolicy) -> Timestamp {
    guard purpose == .retry else { return now }
    let saved = Self.span(max(policy.budgetBurst, 1) - 1, policy)
    return max(now, bounded(now, policy).adding(milliseconds: -saved))
  }

  /// The requests that are spent at this moment and have not come back.
  package func spent(now: Timestamp, policy: RetryPolicy) -> Int {
    let left = max(0, bounded(now, policy).milliseconds(since: now))
    let interval = max(policy.budgetIntervalMilliseconds, 1)
    return Int(clamping: left / interval + (left % interval > 0 ? 1 : 0))
  }

  /// No later than when everything is spent now.
  private func bounded(_ now: Timestamp, _ policy: RetryPolicy) -> Timestamp {
    fullAt.clamped(to: Self.span(max(policy.budgetBurst, 1), policy), after: now)
  }

  private static func span(_ requests: Int, _ policy: RetryPolicy) -> Int64 {
    let (span, overflow) = Int64(requests).multipliedReportingOverflow(by: policy.budgetIntervalMilliseconds)
    return overflow ? .max : span
  }
}

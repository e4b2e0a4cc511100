package import PurchaseQueue

/// When one lane tries again.
package struct LaneBackoff: Hashable, Sendable, Codable {
  /// Failures in a row.
  package private(set) var failures: Int
  /// How often in a row nothing could be sent since the last failure. It costs none of the budget.
  package private(set) var unsent = 0
  /// When it is time again; nil: at once. A wake-up brings it nearer.
  package private(set) var due: Timestamp?
  /// The backend's Retry-After with its jitter. No wake-up shortens it.
  package private(set) var notBefore: Timestamp?

  /// A lane that has not failed.
  package init() { self.init(failures: 0, due: nil, notBefore: nil) }

  /// As it was kept.
  package init(failures: Int, due: Timestamp?, notBefore: Timestamp?) {
    self.failures = failures
    self.due = due
    self.notBefore = notBefore
  }

  /// A lane after a restart. `attempts` is how often its head was sent without being settled; the lane goes on with that
  /// many failures, so that an app which dies at each launch does not send at each launch. The launch is a wake-up.
  package init(
    attempts: Int, now: Timestamp, policy: RetryPolicy, using random: inout some RandomNumberGenerator
  ) {
    self.init(failures: max(attempts, 0), due: nil, notBefore: nil)
    guard failures > 0 else { return }
    due = now.adding(milliseconds: policy.wakeDelayMilliseconds(using: &random))
  }

  /// When this lane may send, as far as it alone decides: `now`, or later, never beyond the policy's horizon.
  package func opensAt(now: Timestamp, policy: RetryPolicy) -> Timestamp {
    var lane = self
    lane.clamp(now: now, policy: policy)
    return max(now, lane.due ?? now, lane.notBefore ?? now)
  }

  /// No verdicts came. `retryAfterMilliseconds` is the backend's Retry-After, if it gave one.
  package mutating func failed(
    retryAfterMilliseconds: Int64? = nil, now: Timestamp, policy: RetryPolicy,
    using random: inout some RandomNumberGenerator
  ) {
    countFailure()
    due = now.adding(milliseconds: policy.delayMilliseconds(afterFailures: failures, using: &random))
    notBefore = nil
    guard let asked = retryAfterMilliseconds, asked > 0 else { return }
    notBefore = now.adding(milliseconds: policy.floorMilliseconds(asked: asked, using: &random))
  }

  /// Nothing was sent. The lane waits longer each time.
  package mutating func notSent(
    now: Timestamp, policy: RetryPolicy, using random: inout some RandomNumberGenerator
  ) {
    unsent = unsent < 64 ? unsent + 1 : unsent
    let rounds = min(failures, 64) + unsent
    due = now.adding(milliseconds: policy.delayMilliseconds(afterFailures: rounds, using: &random))
  }

  /// The backend refused a request that it will refuse again: the lane waits for half of the ceiling or longer from the
  /// first failure on.
  package mutating func refused(
    now: Timestamp, policy: RetryPolicy, using random: inout some RandomNumberGenerator
  ) {
    countFailure()
    due = now.adding(milliseconds: policy.ceilingPaceMilliseconds(using: &random))
    notBefore = nil
  }

  /// The refused request held one entry, and the lane goes on without it: the usual wait after so many failures. If the
  /// backend refuses each entry, the waits grow to the ceiling.
  package mutating func goesOnWithOthers(
    now: Timestamp, policy: RetryPolicy, using random: inout some RandomNumberGenerator
  ) {
    guard let planned = due else { return }
    let usual = now.adding(milliseconds: policy.delayMilliseconds(afterFailures: failures, using: &random))
    due = min(planned, usual)
  }

  /// Verdicts came: sending works, also if they settle nothing.
  package mutating func succeeded() { self = LaneBackoff() }

  /// A new purchase, foreground, network back, or a user who asks: the lane sends within the wake-up jitter, but not
  /// before the backend's Retry-After. Waking again does not postpone it.
  package mutating func woken(
    now: Timestamp, policy: RetryPolicy, using random: inout some RandomNumberGenerator
  ) {
    guard let planned = due else { return }
    due = min(planned, now.adding(milliseconds: policy.wakeDelayMilliseconds(using: &random)))
  }

  /// The clock may have jumped: no delay of the lane lies beyond the ceiling, and no moment beyond the horizon.
  package mutating func clamp(now: Timestamp, policy: RetryPolicy) {
    due = due?.clamped(to: min(policy.ceilingMilliseconds, policy.horizonMilliseconds), after: now)
    notBefore = notBefore?.clamped(to: policy.horizonMilliseconds, after: now)
  }

  /// The clock goes back behind this moment: a wait that was over by then stays over.
  package mutating func forget(overBy moment: Timestamp) {
    if let due, due <= moment { self.due = nil }
    if let notBefore, notBefore <= moment { self.notBefore = nil }
  }

  private mutating func countFailure() {
    failures = failures < .max ? failures + 1 : failures
    unsent = 0
  }
}

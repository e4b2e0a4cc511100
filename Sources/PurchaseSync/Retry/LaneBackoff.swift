package import PurchaseQueue

/// When one lane tries again.
package struct LaneBackoff: Hashable, Sendable, Codable {
  /// Failures in a row, without those of requests that a wake brought forward.
  package private(set) var failures: Int
  /// How often in a row nothing could be sent since the last failure. It costs none of the budget.
  package private(set) var unsent = 0
  /// Until it is time again; nil: at once.
  package private(set) var wait: Wait?
  /// Whether a wake, a tap or a new purchase brought forward what the lane sends next. Such a request costs some of the
  /// budget, and its failure makes no later wait wider.
  package private(set) var isEarly: Bool

  /// A lane that has not failed.
  package init() { self.init(failures: 0, wait: nil) }

  /// As it was kept.
  package init(failures: Int, wait: Wait?, isEarly: Bool = false) {
    self.failures = failures
    self.wait = wait
    self.isEarly = isEarly
  }

  /// A lane after a restart. `attempts` is how often its head was sent without being settled; the lane goes on with that
  /// many failures, so that an app which dies at each launch does not send at each launch.
  ///
  /// - Parameters:
  ///   - attemptedAt: When the head was sent last.
  ///   - isFailing: Whether the backend was failing then. Devices that start together after an outage do not send
  ///     together. Otherwise the last process was only killed, and a second is enough.
  package init(
    attempts: Int, attemptedAt: Timestamp?, isFailing: Bool, now: Timestamp, policy: RetryPolicy,
    using random: inout some RandomNumberGenerator
  ) {
    self.init(failures: max(attempts, 0), wait: nil)
    guard failures > 0 else { return }
    let jitter = policy.wakeDelayMilliseconds(using: &random)
    let ends = now.adding(milliseconds: isFailing ? jitter : min(jitter, max(policy.paceMilliseconds, 0)))
    let began = min(attemptedAt ?? now, now)
    wait = Wait(.backoff, began: began, milliseconds: ends.milliseconds(since: began))
    isEarly = true
  }

  /// When this lane may send, as far as it alone decides: `now`, or later.
  package func opensAt(now: Timestamp) -> Timestamp { wait?.opensAt(now: now) ?? now }

  /// No verdicts came. `retryAfterMilliseconds` is the backend's Retry-After, if it gave one.
  package mutating func failed(
    retryAfterMilliseconds: Int64? = nil, now: Timestamp, policy: RetryPolicy,
    using random: inout some RandomNumberGenerator
  ) {
    let delay: Int64
    if isEarly, failures > 0 {
      (isEarly, unsent) = (false, 0)
      delay = policy.delayMilliseconds(afterEarlyFailures: policy.widening(failures), using: &random)
    } else {
      countFailure()
      delay = policy.delayMilliseconds(afterFailures: policy.widening(failures), using: &random)
    }
    let asked = retryAfterMilliseconds.map {
      $0 > 0 ? policy.floorMilliseconds(asked: $0, using: &random) : 0
    }
    wait = Wait(.backoff, began: now, milliseconds: delay, asked: asked ?? 0)
  }

  /// Nothing was sent. The lane waits longer each time.
  package mutating func notSent(
    now: Timestamp, policy: RetryPolicy, using random: inout some RandomNumberGenerator
  ) {
    unsent = unsent < 64 ? unsent + 1 : unsent
    let delay = policy.delayMilliseconds(afterFailures: min(failures, 64) + unsent, using: &random)
    wait = .backoff(delay, keeping: wait, now: now)
  }

  /// The backend does not speak this version of the protocol, and will not at the next try: the lane waits at the pace of
  /// the ceiling from the first failure on.
  package mutating func refused(
    now: Timestamp, policy: RetryPolicy, using random: inout some RandomNumberGenerator
  ) {
    countFailure()
    let delay = policy.ceilingPaceMilliseconds(using: &random)
    wait = Wait(.backoff, began: now, milliseconds: delay)
  }

  /// The next request is another one than the one that failed: fewer claims, or the entries behind the one that failed.
  /// It follows soon, and later with each failure, but not as late as the same request would.
  package mutating func goesOn(
    now: Timestamp, policy: RetryPolicy, using random: inout some RandomNumberGenerator
  ) {
    let delay = policy.delayMilliseconds(afterFailures: min(failures, 3), using: &random)
    wait?.shorten(to: now.adding(milliseconds: delay), pace: 0)
  }

  /// Verdicts came: sending works, also if they settle nothing.
  package mutating func succeeded() { self = LaneBackoff() }

  /// Foreground, network back, sign-in: the lane sends within the wake-up jitter. A tap, or a new purchase, sends at
  /// once. Neither is before the backend's Retry-After, or sooner than the pace after the failure. Waking again does not
  /// postpone it.
  package mutating func woken(
    isTap: Bool = false, now: Timestamp, policy: RetryPolicy, using random: inout some RandomNumberGenerator
  ) {
    guard let planned = wait?.milliseconds else { return }
    let jitter = isTap ? 0 : policy.wakeDelayMilliseconds(using: &random)
    wait?.shorten(to: now.adding(milliseconds: jitter), pace: policy.paceMilliseconds)
    if wait?.milliseconds != planned { isEarly = true }
  }

  /// A wake ended waits of the lane's entries. Devices that are woken together do not send together.
  package mutating func brought(
    isTap: Bool, now: Timestamp, policy: RetryPolicy, using random: inout some RandomNumberGenerator
  ) {
    isEarly = true
    guard !isTap, wait == nil else { return }
    wait = Wait(.backoff, began: now, milliseconds: policy.wakeDelayMilliseconds(using: &random))
  }

  /// The clock may have jumped.
  package mutating func clamp(now: Timestamp) { wait?.clockIsAt(now) }

  /// The clock went back.
  mutating func follow(_ jump: ClockJump) { wait.follow(jump) }

  private mutating func countFailure() {
    failures = failures < .max ? failures + 1 : failures
    (isEarly, unsent) = (false, 0)
  }
}

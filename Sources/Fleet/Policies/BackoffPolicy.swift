package import PurchaseQueue

/// Exponential backoff with the jitters of M. Brooker, "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015).
package struct BackoffPolicy: FleetPolicy {
  package enum Jitter: Sendable, CaseIterable {
    /// min(ceiling, base · 2^n).
    case none
    /// Half of that, and up to as much again.
    case equal
    /// Between 0 and that.
    case full
    /// min(ceiling, between base and three times the last delay).
    case decorrelated
  }

  package var jitter: Jitter
  package var base: Int64 = 2_000
  package var ceiling: Int64 = 300_000
  /// Attempts until it gives up and waits for the next foreground; nil for never.
  package var mostAttempts: Int?

  package init(_ jitter: Jitter, ceiling: Int64 = 300_000, mostAttempts: Int? = nil) {
    (self.jitter, self.ceiling, self.mostAttempts) = (jitter, ceiling, mostAttempts)
  }

  package struct State: BitwiseCopyable, Sendable {
    /// The last delay, for `decorrelated`.
    var delay: UInt32 = 0
    var attempts: UInt16 = 0
  }

  package var fresh: State { State() }

  package func purchased(_ state: inout State, now: Int64, using random: inout RandomSource) -> Int64 {
    state = State()
    return now
  }

  package func opened(
    _ state: inout State, due: Int64?, now: Int64, using random: inout RandomSource
  ) -> Int64? {
    // It goes on where it is; one that gave up begins again.
    guard due == nil else { return now }
    state = State()
    return now
  }

  package func failed(
    _ state: inout State, _ failure: FleetFailure, now: Int64, using random: inout RandomSource
  ) -> FleetNext {
    state.attempts = state.attempts < .max ? state.attempts + 1 : .max
    if let mostAttempts, Int(state.attempts) >= mostAttempts { return .waits }
    let delay = delay(after: Int(state.attempts), last: Int64(state.delay), using: &random)
    state.delay = UInt32(clamping: delay)
    return .at(now + max(delay, failure.retryAfter ?? 0))
  }

  package func succeeded(_ state: inout State, now: Int64) -> Int64? {
    state = State()
    return nil
  }

  /// The delay after so many failures.
  package func delay(after failures: Int, last: Int64, using random: inout RandomSource) -> Int64 {
    let widest = min(ceiling, base << Int64(min(max(failures, 1) - 1, 40)))
    switch jitter {
    case .none: return widest
    case .equal: return widest / 2 + Int64(random.below(Int(widest / 2) + 1))
    case .full: return Int64(random.below(Int(widest) + 1))
    case .decorrelated:
      let most = max(base, last) * 3
      return min(ceiling, base + Int64(random.below(Int(most - base) + 1)))
    }
  }
}

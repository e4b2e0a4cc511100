package import PurchaseQueue

/// Tries again after the same time, whatever happens; perhaps not for ever.
package struct FixedPolicy: FleetPolicy {
  package var delay: Int64 = 30_000
  /// The purchase is forgotten after so many attempts; nil for never.
  package var mostAttempts: Int?
  /// And when it is this old.
  package var longest: Int64?

  package init(mostAttempts: Int? = nil, longest: Int64? = nil) {
    (self.mostAttempts, self.longest) = (mostAttempts, longest)
  }

  package struct State: BitwiseCopyable, Sendable {
    var since: UInt32 = 0
    var attempts: UInt16 = 0
  }

  package var fresh: State { State() }

  package func purchased(_ state: inout State, now: Int64, using random: inout RandomSource) -> Int64 {
    if state.attempts == 0 { state.since = UInt32(clamping: now) }
    return now
  }

  package func failed(
    _ state: inout State, _ failure: FleetFailure, now: Int64, using random: inout RandomSource
  ) -> FleetNext {
    state.attempts = state.attempts < .max ? state.attempts + 1 : .max
    if let mostAttempts, Int(state.attempts) >= mostAttempts { return forget(&state) }
    if let longest, now - Int64(state.since) >= longest { return forget(&state) }
    return .at(now + max(delay, failure.retryAfter ?? 0))
  }

  private func forget(_ state: inout State) -> FleetNext {
    state = State()
    return .drops
  }

  package func succeeded(_ state: inout State, now: Int64) -> Int64? {
    state = State()
    return nil
  }
}

/// The rule of a purchase library: a 429 is sent again soon; after any other failure it waits for the next foreground.
/// The backend of this simulation answers 503.
package struct ForegroundPolicy: FleetPolicy {
  package struct State: BitwiseCopyable, Sendable {}

  package init() {}
  package var fresh: State { State() }

  package func purchased(_ state: inout State, now: Int64, using random: inout RandomSource) -> Int64 { now }

  package func failed(
    _ state: inout State, _ failure: FleetFailure, now: Int64, using random: inout RandomSource
  ) -> FleetNext { .waits }

  package func succeeded(_ state: inout State, now: Int64) -> Int64? { nil }
}

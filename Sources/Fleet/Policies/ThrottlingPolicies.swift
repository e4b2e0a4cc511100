package import PurchaseQueue

/// gRPC's retries (proposal A6): at most five attempts with full jitter from 100 ms to 1 s, and a bucket of ten tokens. A
/// failure takes one, a success gives a tenth; at half or less nothing is retried. A purchase that gave up waits for the
/// next foreground.
package struct GRPCPolicy: FleetPolicy {
  static let mostAttempts = 5

  package struct State: BitwiseCopyable, Sendable {
    /// In tenths.
    var tokens: UInt8 = 100
    var attempts: UInt8 = 0
  }

  package init() {}
  package var fresh: State { State() }

  package func purchased(_ state: inout State, now: Int64, using random: inout RandomSource) -> Int64 {
    state.attempts = 0
    return now
  }

  package func opened(
    _ state: inout State, due: Int64?, now: Int64, using random: inout RandomSource
  ) -> Int64? {
    if due == nil { state.attempts = 0 }
    return now
  }

  package func failed(
    _ state: inout State, _ failure: FleetFailure, now: Int64, using random: inout RandomSource
  ) -> FleetNext {
    state.attempts = min(state.attempts, .max - 1) + 1
    state.tokens -= min(state.tokens, 10)
    guard Int(state.attempts) < Self.mostAttempts, state.tokens > 50 else { return .waits }
    if let pushback = failure.retryAfter { return .at(now + pushback) }
    let widest = min(1_000, 100 << Int64(state.attempts - 1))
    return .at(now + Int64(random.unit() * Double(widest)))
  }

  package func succeeded(_ state: inout State, now: Int64) -> Int64? {
    state.tokens = min(100, state.tokens + 1)
    state.attempts = 0
    return nil
  }
}

/// Adaptive throttling of the SRE book ("Handling Overload"): over two minutes a client rejects its own requests with
/// probability max(0, (requests − K · accepts) / (requests + 1)), K = 2. Full jitter with ceiling 300 s decides when it
/// asks.
package struct AdaptiveThrottlingPolicy: FleetPolicy {
  static let k = 2.0

  package struct State: BitwiseCopyable, Sendable {
    var backoff = BackoffPolicy.State()
    /// The minute that runs; the one before counts as well.
    var minute: UInt16 = 0
    var requests: UInt8 = 0
    var accepts: UInt8 = 0
    var requestsBefore: UInt8 = 0
    var acceptsBefore: UInt8 = 0
  }

  private let backoff = BackoffPolicy(.full)

  package init() {}
  package var fresh: State { State() }

  package func purchased(_ state: inout State, now: Int64, using random: inout RandomSource) -> Int64 {
    backoff.purchased(&state.backoff, now: now, using: &random)
  }

  package func opened(
    _ state: inout State, due: Int64?, now: Int64, using random: inout RandomSource
  ) -> Int64? { backoff.opened(&state.backoff, due: due, now: now, using: &random) }

  package func admit(_ state: inout State, now: Int64, using random: inout RandomSource) -> FleetNext? {
    turn(&state, now)
    let rejects = Self.rejection(state)
    state.requests = min(state.requests, .max - 1) + 1
    guard rejects > 0, random.unit() < rejects else { return nil }
    return backoff.failed(&state.backoff, .silence, now: now, using: &random)
  }

  static func rejection(_ state: State) -> Double {
    let requests = Double(state.requests) + Double(state.requestsBefore)
    let accepts = Double(state.accepts) + Double(state.acceptsBefore)
    return max(0, (requests - k * accepts) / (requests + 1))
  }

  package func failed(
    _ state: inout State, _ failure: FleetFailure, now: Int64, using random: inout RandomSource
  ) -> FleetNext { backoff.failed(&state.backoff, failure, now: now, using: &random) }

  package func succeeded(_ state: inout State, now: Int64) -> Int64? {
    turn(&state, now)
    state.accepts = min(state.accepts, .max - 1) + 1
    return backoff.succeeded(&state.backoff, now: now)
  }

  private func turn(_ state: inout State, _ now: Int64) {
    let minute = UInt16(truncatingIfNeeded: now / 60_000)
    guard minute != state.minute else { return }
    let isNext = minute == state.minute &+ 1
    (state.requestsBefore, state.acceptsBefore) = isNext ? (state.requests, state.accepts) : (0, 0)
    (state.requests, state.accepts, state.minute) = (0, 0, minute)
  }
}

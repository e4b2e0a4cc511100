package import PurchaseQueue

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// botocore's retry mode `standard` (`botocore/retries/standard.py`, `quota.py`): three attempts, full jitter up to 20 s,
/// and a quota of 500 of which a retry costs 5, or 10 after a time-out. A purchase that gave up waits for the next
/// foreground. Its quota is that of one device, which never has many failures at once.
package struct BotocoreStandardPolicy: FleetPolicy {
  static let quota: UInt16 = 500
  static let mostAttempts = 3

  package struct State: BitwiseCopyable, Sendable {
    var quota = BotocoreStandardPolicy.quota
    /// What the last retry has cost; it comes back with a success.
    var spent: UInt8 = 0
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
    if due == nil { (state.attempts, state.spent) = (0, 0) }
    return now
  }

  package func failed(
    _ state: inout State, _ failure: FleetFailure, now: Int64, using random: inout RandomSource
  ) -> FleetNext {
    state.attempts = min(state.attempts, .max - 1) + 1
    let cost: UInt8 = failure == .silence ? 10 : 5
    guard Int(state.attempts) < Self.mostAttempts, state.quota >= cost else { return .waits }
    state.quota -= UInt16(cost)
    state.spent = cost
    let widest = min(20_000, 1_000 << Int64(state.attempts - 1))
    return .at(now + Int64(random.unit() * Double(widest)))
  }

  package func succeeded(_ state: inout State, now: Int64) -> Int64? {
    // A success without a retry gives 1 back.
    state.quota = min(Self.quota, state.quota + max(UInt16(state.spent), 1))
    (state.attempts, state.spent) = (0, 0)
    return nil
  }
}

/// botocore's retry mode `adaptive` (`adaptive.py`, `throttling.py`, `bucket.py`): `standard`, and after the first refusal
/// a token bucket whose rate follows CUBIC with β = 0.7 and scale 0.4, at least half a request per second.
package struct BotocoreAdaptivePolicy: FleetPolicy {
  package struct State: BitwiseCopyable, Sendable {
    var standard = BotocoreStandardPolicy.State()
    var isLimited = false
    /// Of the rate clock: requests per second, smoothed; the requests since the last bucket of half a second.
    var rate: Float = 0
    var count: Float = 0
    var bucket: Float = 0
    /// Of CUBIC.
    var most: Float = 0
    var failedAt: Float = 0
    /// Of the token bucket.
    var fill: Float = 1
    var tokens: Float = 0
    var filledAt: Float = 0
  }

  private let standard = BotocoreStandardPolicy()

  package init() {}
  package var fresh: State { State() }

  package func purchased(_ state: inout State, now: Int64, using random: inout RandomSource) -> Int64 {
    standard.purchased(&state.standard, now: now, using: &random)
  }

  package func opened(
    _ state: inout State, due: Int64?, now: Int64, using random: inout RandomSource
  ) -> Int64? { standard.opened(&state.standard, due: due, now: now, using: &random) }

  package func admit(_ state: inout State, now: Int64, using random: inout RandomSource) -> FleetNext? {
    guard state.isLimited else { return nil }
    refill(&state, Self.seconds(now))
    guard state.tokens < 1 else {
      state.tokens -= 1
      return nil
    }
    return .at(now + Int64(((1 - state.tokens) / state.fill * 1_000).rounded(.up)))
  }

  package func failed(
    _ state: inout State, _ failure: FleetFailure, now: Int64, using random: inout RandomSource
  ) -> FleetNext {
    adjust(&state, Self.seconds(now), isThrottled: failure != .silence)
    return standard.failed(&state.standard, failure, now: now, using: &random)
  }

  package func succeeded(_ state: inout State, now: Int64) -> Int64? {
    adjust(&state, Self.seconds(now), isThrottled: false)
    return standard.succeeded(&state.standard, now: now)
  }

  private static func seconds(_ milliseconds: Int64) -> Float { Float(milliseconds) / 1_000 }

  private func refill(_ state: inout State, _ now: Float) {
    state.tokens = min(max(state.fill, 1), state.tokens + (now - state.filledAt) * state.fill)
    state.filledAt = now
  }

  private func adjust(_ state: inout State, _ now: Float, isThrottled: Bool) {
    state.count += 1
    let bucket = (now * 2).rounded(.down) / 2
    if bucket > state.bucket {
      state.rate = state.count / (bucket - state.bucket) * 0.8 + state.rate * 0.2
      (state.count, state.bucket) = (0, bucket)
    }
    let rate: Float
    if isThrottled {
      state.most = state.isLimited ? min(state.rate, state.fill) : state.rate
      (state.failedAt, state.isLimited) = (now, true)
      rate = state.most * 0.7
    } else {
      let passed = now - state.failedAt - cbrt(state.most * 0.3 / 0.4)
      rate = 0.4 * passed * passed * passed + state.most
    }
    refill(&state, now)
    state.fill = max(min(rate, 2 * state.rate), 0.5)
    state.tokens = min(state.tokens, max(state.fill, 1))
  }
}

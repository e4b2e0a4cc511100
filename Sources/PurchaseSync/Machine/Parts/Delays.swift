import PurchaseQueue

/// The policy's delays, drawn from the seeded random numbers of one machine.
struct Delays: Hashable {
  let policy: RetryPolicy
  var random: RandomSource

  init(_ policy: RetryPolicy, seed: UInt64) {
    self.policy = policy
    random = RandomSource(seed: seed)
  }

  /// The delay in milliseconds after this many failures, at least the backend's Retry-After.
  mutating func delay(afterFailures failures: Int, retryAfterMilliseconds asked: Int64? = nil) -> Int64 {
    policy.delayMilliseconds(afterFailures: failures, retryAfterMilliseconds: asked, using: &random)
  }

  /// The backend's Retry-After in milliseconds, with its jitter.
  mutating func floor(askedMilliseconds asked: Int64) -> Int64 {
    policy.floorMilliseconds(asked: asked, using: &random)
  }
}

extension RetryPolicy {
  /// A timer never lies beyond the horizon.
  func bounded(_ moment: Timestamp, after now: Timestamp) -> Timestamp {
    moment.clamped(to: horizonMilliseconds, after: now)
  }
}

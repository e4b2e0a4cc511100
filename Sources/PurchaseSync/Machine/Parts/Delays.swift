import PurchaseQueue

/// The policy's delays, drawn from the seeded random numbers of one machine.
struct Delays: Hashable {
  let policy: RetryPolicy
  var random: RandomSource

  init(_ policy: RetryPolicy, seed: UInt64) {
    self.policy = policy
    random = RandomSource(seed: seed)
  }

  /// A wait after this many failures, at least as long as the backend asked.
  mutating func wait(
    afterFailures failures: Int, retryAfterMilliseconds asked: Int64? = nil, now: Timestamp
  ) -> Wait {
    let delay = policy.delayMilliseconds(afterFailures: failures, using: &random)
    return Wait(
      .backoff, began: now, milliseconds: max(delay, 1),
      asked: asked.map { floor(askedMilliseconds: $0) } ?? 0)
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

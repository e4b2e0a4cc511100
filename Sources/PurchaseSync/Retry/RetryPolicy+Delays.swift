import PurchaseQueue

/// The delays that follow from the policy's numbers, in milliseconds. The random numbers come in as an argument.
extension RetryPolicy {
  /// The widest delay after this many failures in a row.
  package func ceiling(afterFailures failures: Int) -> Int64 {
    Backoff.widest(
      base: baseMilliseconds, growth: growth, ceiling: min(ceilingMilliseconds, horizonMilliseconds),
      afterFailures: failures)
  }

  /// After so many failures of a lane in a row, those that count for its delay: a few count as one that keeps it prompt.
  package func widening(_ failures: Int) -> Int {
    guard ceiling(afterFailures: 1) <= promptMilliseconds,
      ceiling(afterFailures: failures) > promptMilliseconds
    else { return failures }
    var prompt = 1
    while ceiling(afterFailures: prompt + 1) <= promptMilliseconds { prompt += 1 }
    return failures - prompt <= promptTries ? prompt : failures
  }

  /// The delay after this many failures in a row: the pace of the ceiling where it is reached. At least the backend's Retry-After with its jitter. At most the
  /// horizon.
  package func delayMilliseconds(
    afterFailures failures: Int, retryAfterMilliseconds: Int64? = nil,
    using random: inout some RandomNumberGenerator
  ) -> Int64 {
    let widest = ceiling(afterFailures: failures)
    let isAtCeiling = widest >= min(ceilingMilliseconds, horizonMilliseconds)
    let delay =
      isAtCeiling ? ceilingPaceMilliseconds(using: &random) : Backoff.uniform(0...widest, using: &random)
    guard let asked = retryAfterMilliseconds else { return delay }
    return max(delay, floorMilliseconds(asked: asked, using: &random))
  }

  /// The backend's Retry-After and up to 20 % of jitter, at most the horizon. 0 for a moment in the past.
  package func floorMilliseconds(asked: Int64, using random: inout some RandomNumberGenerator) -> Int64 {
    let horizon = max(horizonMilliseconds, 0)
    let floor = min(max(asked, 0), horizon)
    let percent = min(max(retryAfterJitterPercent, 0), 100)
    // In two steps, since floor · percent may not fit.
    let widest = floor / 100 * percent + floor % 100 * percent / 100
    let (sum, overflow) = floor.addingReportingOverflow(Backoff.uniform(0...widest, using: &random))
    return overflow ? horizon : min(sum, horizon)
  }

  /// The delay after a request that was sent before its time: any part of the widest. The devices that a push message woke
  /// together do not come together again.
  package func delayMilliseconds(
    afterEarlyFailures failures: Int, using random: inout some RandomNumberGenerator
  ) -> Int64 { Backoff.uniform(0...ceiling(afterFailures: failures), using: &random) }

  /// Between three quarters of the ceiling and the ceiling: for a request that will most likely fail again.
  package func ceilingPaceMilliseconds(using random: inout some RandomNumberGenerator) -> Int64 {
    let most = min(max(ceilingMilliseconds, 0), max(horizonMilliseconds, 0))
    return Backoff.uniform(most - most / 4...most, using: &random)
  }

  /// How long a lane that is woken early still waits.
  package func wakeDelayMilliseconds(using random: inout some RandomNumberGenerator) -> Int64 {
    Backoff.uniform(0...min(max(wakeJitterMilliseconds, 0), max(horizonMilliseconds, 0)), using: &random)
  }

  /// The time in which one spent request comes back.
  package var budgetIntervalMilliseconds: Int64 {
    max(budgetWindowMilliseconds, 0) / Int64(max(budgetPerWindow, 1))
  }

  /// The most retries in any `budgetWindow`.
  package var mostRetriesPerWindow: Int {
    let (sum, overflow) = max(budgetPerWindow, 1).addingReportingOverflow(max(budgetBurst, 1))
    return overflow ? .max : sum
  }

  /// From a wake to the request that it brings.
  package var wakeBoundMilliseconds: Int64 {
    max(wakeJitterMilliseconds, 0) + budgetIntervalMilliseconds + max(paceMilliseconds, 0)
  }

  /// From one request to the next without a wake, if the backend asks for no more.
  package var deliveryBoundMilliseconds: Int64 {
    let (sum, overflow) = max(min(ceilingMilliseconds, horizonMilliseconds), 0)
      .addingReportingOverflow(budgetIntervalMilliseconds)
    return overflow ? .max : sum
  }
}

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

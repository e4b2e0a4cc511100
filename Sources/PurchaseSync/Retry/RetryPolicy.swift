/// When to try again: a value, the same in apps and in simulations. Every number can be changed. Times are kept in whole
/// milliseconds; a longer one than 292 million years becomes that.
///
/// The delay after the n-th failure is uniform in 0…base · growth^(n-1): full jitter spreads devices that failed together. A
/// lane has one more within a minute (`promptTries`). Where the delays reach the ceiling, they lie between three
/// quarters of the ceiling and all of it. The ceiling keeps the sum of all devices' retries within the capacity of a weak
/// backend, and most of it is certain, because a fleet whose devices come at even distances is served soonest with the same
/// load (`purchase-simulator fleet`).
public struct RetryPolicy: Sendable, Hashable {
  // Integers inside: the clock of the queue is one, and comparing them costs nothing.
  package var baseMilliseconds: Int64 = 2_000
  /// How many times as wide each delay is as the one before: 3. A fleet's devices climb with so few attempts that those who
  /// bought in the last hour of an outage do not overload the backend that comes back.
  public var growth: Int64 = 3
  package var promptMilliseconds: Int64 = 60_000
  /// So many delays of a lane stay within `promptDelay` where they would be wider for the first time: 1. The person who has
  /// paid is likely there.
  public var promptTries: Int = 1
  package var ceilingMilliseconds: Int64 = 1_200_000
  package var horizonMilliseconds: Int64 = 86_400_000
  /// How many percent of a Retry-After are added to it at most: 20. In 0…100.
  public var retryAfterJitterPercent: Int64 = 20
  package var wakeJitterMilliseconds: Int64 = 5_000

  package var budgetWindowMilliseconds: Int64 = 3_600_000
  /// How many requests after a failure come back to the whole installation in one `budgetWindow`: 80, one each 45 s.
  public var budgetPerWindow: Int = 80
  /// How many of them it can save, and then send without waiting: 20.
  public var budgetBurst: Int = 20

  package var paceMilliseconds: Int64 = 1_000
  /// An outage is over after this many successful requests, and requests are no longer paced: 60.
  public var pacedSends: Int = 60

  /// An entry is postponed at the pace of the ceiling after this many uploads that the backend refused or failed at, while
  /// it is well: 8. Uploads that did not reach the backend do not count.
  public var poisonRounds: Int = 8
  package var quarantineAfterMilliseconds: Int64 = 86_400_000
  /// An entry goes to quarantine after this many verdicts `unknownTransaction`, but not within `unknownFor`: 10.
  public var unknownTransactionTries: Int = 10
  package var unknownForMilliseconds: Int64 = 600_000
  package var quarantineRetryMilliseconds: Int64 = 86_400_000

  /// The documented numbers.
  public init() {}

  /// The same policy for a clock that is this many times faster: every time is divided, every count stays. A time above
  /// zero does not become zero. A divisor below 1 counts as 1.
  public func scaled(by divisor: Int64) -> RetryPolicy {
    var policy = self
    for time in Self.times where self[keyPath: time] > 0 {
      policy[keyPath: time] = max(1, self[keyPath: time] / max(divisor, 1))
    }
    return policy
  }

  /// Everything that is a time.
  private static var times: [WritableKeyPath<RetryPolicy, Int64>] {
    [
      \.baseMilliseconds, \.promptMilliseconds, \.ceilingMilliseconds, \.horizonMilliseconds,
      \.wakeJitterMilliseconds,
      \.budgetWindowMilliseconds, \.paceMilliseconds,
      \.unknownForMilliseconds, \.quarantineAfterMilliseconds, \.quarantineRetryMilliseconds,
    ]
  }
}

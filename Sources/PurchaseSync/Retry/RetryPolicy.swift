/// When to try again: a pure value, the same in apps and in simulations. Every number can be changed; times are in
/// milliseconds.
///
/// Full jitter: uniform in 0…min(cap, base · 2^(n-1)) after the n-th failure. It spreads a fleet that failed
/// together; the long cap keeps the sum of all devices' retries below what a weak backend can take.
public struct RetryPolicy: Sendable, Hashable {
  /// The widest first delay: 2 s.
  public var baseMilliseconds: Int64 = 2_000
  /// The widest delay of all: an hour.
  public var capMilliseconds: Int64 = 3_600_000
  /// No timer lies further ahead, and no wait that the backend asks for is longer: a day.
  public var horizonMilliseconds: Int64 = 86_400_000
  /// How much of what the backend asked for is added to it at most: 20 %. 0…100.
  public var retryAfterJitterPercent: Int64 = 20
  /// How long a lane that was woken early waits at most, so that a fleet which gets its network back together does
  /// not send together: 5 s.
  public var wakeJitterMilliseconds: Int64 = 5_000

  /// What the budget is counted over: an hour.
  public var budgetWindowMilliseconds: Int64 = 3_600_000
  /// Requests after a failure in one window, for the whole installation: 60. Not more than 255 of them fall into one
  /// seventh of the window.
  public var budgetPerWindow: Int = 60
  /// How many of these only a new purchase or a user who asks may take: 20.
  public var budgetReserved: Int = 20

  /// The least time between two requests while the backend fails, and after an outage: 1 s.
  public var paceMilliseconds: Int64 = 1_000
  /// After so many requests that worked, an outage is over and nothing is paced any longer: 60.
  public var pacedSends: Int = 60

  /// An entry that shared so many failed rounds with others is sent without them, to find out which of them it is: 2.
  public var sharedRounds: Int = 2
  /// After so many failed rounds an entry is set aside: 8.
  public var poisonRounds: Int = 8
  /// An entry that has failed and blocked others for so long is set aside: 10 minutes.
  public var poisonBlockingMilliseconds: Int64 = 600_000
  /// An entry that has failed for so long, while other uploads worked, is parked in quarantine: a day.
  public var parkAfterMilliseconds: Int64 = 86_400_000
  /// After so many `unknownTransaction` an entry is parked: 10.
  public var unknownTransactionTries: Int = 10
  /// How often an entry in quarantine is tried: daily.
  public var quarantineRetryMilliseconds: Int64 = 86_400_000

  /// The documented numbers; change what is to be different.
  public init() {}

  /// The same policy on a clock that is so many times faster: every time divided, every count as it was. A time
  /// does not become nothing, and a divisor below 1 counts as 1.
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
      \.baseMilliseconds, \.capMilliseconds, \.horizonMilliseconds, \.wakeJitterMilliseconds,
      \.budgetWindowMilliseconds, \.paceMilliseconds, \.poisonBlockingMilliseconds, \.parkAfterMilliseconds,
      \.quarantineRetryMilliseconds,
    ]
  }
}

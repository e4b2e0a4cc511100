import PurchaseQueue

/// The times of the policy.
extension RetryPolicy {
  /// The widest first delay: 2 s.
  public var base: Duration {
    get { .milliseconds(baseMilliseconds) }
    set { baseMilliseconds = newValue.wholeMilliseconds }
  }

  /// The widest delay of all: an hour.
  public var ceiling: Duration {
    get { .milliseconds(ceilingMilliseconds) }
    set { ceilingMilliseconds = newValue.wholeMilliseconds }
  }

  /// No timer lies further ahead, and no Retry-After is longer: a day.
  public var horizon: Duration {
    get { .milliseconds(horizonMilliseconds) }
    set { horizonMilliseconds = newValue.wholeMilliseconds }
  }

  /// How long a lane that is woken early waits at most: 5 s. Devices that get their network back together do not send
  /// together.
  public var wakeJitter: Duration {
    get { .milliseconds(wakeJitterMilliseconds) }
    set { wakeJitterMilliseconds = newValue.wholeMilliseconds }
  }

  /// The time over which the retry budget is counted: an hour.
  public var budgetWindow: Duration {
    get { .milliseconds(budgetWindowMilliseconds) }
    set { budgetWindowMilliseconds = newValue.wholeMilliseconds }
  }

  /// The least time between two requests while the backend fails, and after an outage: 1 s.
  public var pace: Duration {
    get { .milliseconds(paceMilliseconds) }
    set { paceMilliseconds = newValue.wholeMilliseconds }
  }

  /// An entry is unknown to the backend for this long before it goes to quarantine: 10 minutes.
  public var unknownFor: Duration {
    get { .milliseconds(unknownForMilliseconds) }
    set { unknownForMilliseconds = newValue.wholeMilliseconds }
  }

  /// An entry that has failed for this long while other uploads succeeded goes to quarantine: a day.
  public var quarantineAfter: Duration {
    get { .milliseconds(quarantineAfterMilliseconds) }
    set { quarantineAfterMilliseconds = newValue.wholeMilliseconds }
  }

  /// How often entries in quarantine are tried: daily.
  public var quarantineRetry: Duration {
    get { .milliseconds(quarantineRetryMilliseconds) }
    set { quarantineRetryMilliseconds = newValue.wholeMilliseconds }
  }
}

import PurchaseQueue

/// The times of the policy.
extension RetryPolicy {
  /// The widest first delay: 2 s.
  public var base: Duration {
    get { .milliseconds(baseMilliseconds) }
    set { baseMilliseconds = newValue.wholeMilliseconds }
  }

  /// `promptTries` delays of a lane that would be wider stay within this: a minute.
  public var promptDelay: Duration {
    get { .milliseconds(promptMilliseconds) }
    set { promptMilliseconds = newValue.wholeMilliseconds }
  }

  /// The widest delay of all: 20 minutes. A million devices that wait for it send 950 requests a second.
  public var ceiling: Duration {
    get { .milliseconds(ceilingMilliseconds) }
    set { ceilingMilliseconds = newValue.wholeMilliseconds }
  }

  /// No timer lies further ahead, and no Retry-After is longer: a day.
  public var horizon: Duration {
    get { .milliseconds(horizonMilliseconds) }
    set { horizonMilliseconds = newValue.wholeMilliseconds }
  }

  /// How long a lane that has failed still waits after a wake at most: 5 s. Devices that get their network back together
  /// do not send together. A healthy lane, a tap and a new purchase do not wait.
  public var wakeJitter: Duration {
    get { .milliseconds(wakeJitterMilliseconds) }
    set { wakeJitterMilliseconds = newValue.wholeMilliseconds }
  }

  /// The time in which `budgetPerWindow` requests come back: an hour.
  public var budgetWindow: Duration {
    get { .milliseconds(budgetWindowMilliseconds) }
    set { budgetWindowMilliseconds = newValue.wholeMilliseconds }
  }

  /// The least time between two requests while the backend fails, after an outage, and between a failure and the try that
  /// a tap brings: 1 s.
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

  /// With a network, a backend that answers, and credentials, a purchase is delivered within this time of a wake or a tap,
  /// also if the budget is used up, and unless the backend has asked for more (`Retry-After`): 51 s, and the time of the
  /// request. A person who taps waits for no jitter and no budget.
  public var wakeBound: Duration { .milliseconds(wakeBoundMilliseconds) }

  /// The same without a wake, from the moment at which the backend would take it: 20 minutes and 45 s. An entry in quarantine
  /// waits for `quarantineRetry`.
  public var deliveryBound: Duration { .milliseconds(deliveryBoundMilliseconds) }
}

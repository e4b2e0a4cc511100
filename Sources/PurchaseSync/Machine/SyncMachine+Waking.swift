package import PurchaseQueue

/// Why waiting lanes are looked at before their time.
public enum WakeReason: Sendable, Hashable {
  /// The app came to the foreground.
  case foreground
  /// The network is back.
  case networkBack
  /// Somebody asked for it: may use the budget's reserve.
  case userAsked
  /// There are credentials for this account, new ones or again.
  case signedIn(account: String)
}

/// What brings a waiting lane nearer: inside the budget, and never before what the backend asked for.
extension SyncMachine {
  package mutating func woken(_ reason: WakeReason, now: Timestamp) -> [SyncAction] {
    precondition(isStarted, "a machine that has not started cannot be woken")
    note(now)
    switch reason {
    case .foreground:
      isParked = false
      // Another process of this installation may have had another clock.
      wentBack = true
      for lane in sortedLanes { wake(lane, now: now) }
    case .networkBack:
      // Credentials do not come with a network.
      for lane in sortedLanes where lanes[lane]?.activity != .signInNeeded { wake(lane, now: now) }
    case .userAsked:
      for lane in sortedLanes { wake(lane, for: .person, now: now) }
    case .signedIn(let account):
      wake(.account(account), for: .person, now: now)
      // What is out went with the old ones, or with none.
      if lanes[.account(account)]?.sent.isEmpty == false { lanes[.account(account)]?.hasSignedIn = true }
      claims[account]?.needsSignIn = false
      if claims[account]?.isSending == true { claims[account]?.hasSignedIn = true }
    }
    return proceed(now: now)
  }

  /// Always in the same order: each draws its delay, and one seed is to give one run.
  private var sortedLanes: [Lane] { lanes.keys.sorted { $0.text < $1.text } }

  /// The app goes to the background: nothing is sent any more until it is back. What is out may still be answered.
  package mutating func parked() { isParked = true }

  @discardableResult
  mutating func wake(
    _ lane: Lane, for purpose: RetryBudget.Purpose = .retry, now: Timestamp
  ) -> LaneState {
    var state = lanes[lane, default: LaneState()]
    switch state.activity {
    case .idle: break
    case .signInNeeded: state.activity = .idle
    // Its answer decides when it goes on.
    case .sending: break
    }
    state.backoff.woken(now: now, policy: policy, using: &random)
    if purpose == .person { state.purpose = .person }
    lanes[lane] = state
    return state
  }
}

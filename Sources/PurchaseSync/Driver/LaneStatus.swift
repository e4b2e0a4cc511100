public import PurchaseQueue

/// What a lane with entries is doing, for a screen and for support.
public struct LaneStatus: Sendable, Hashable {
  /// What is going on.
  @nonexhaustive
  public enum State: Sendable, Hashable {
    /// It is its turn: the next entry goes up in a moment.
    case ready
    /// An upload is out.
    case uploading
    /// Nothing of it is sent before this moment, unless something wakes it: a new purchase, foreground, the network.
    case waiting(until: Timestamp, reason: String)
    /// Its account has no credentials, or they were refused. Call `wake` with `.signedIn` when there are new ones.
    case signInNeeded
    /// The app is in the background.
    case parked
  }

  /// Whose entries they are.
  public var lane: Lane
  /// How many take their turn: without those in quarantine.
  public var entries: Int
  /// What is going on.
  public var state: State

  /// A status, for an app's own previews and tests.
  public init(lane: Lane, entries: Int, state: State) {
    self.lane = lane
    self.entries = entries
    self.state = state
  }
}

extension SyncMachine {
  /// What a lane is doing; `reason` is why it was last said to wait, if it was. Changes nothing.
  package func status(of lane: Lane, reason: String?, now: Timestamp) throws(QueueError) -> LaneStatus.State {
    let state = lanes[lane] ?? LaneState()
    switch state.activity {
    case .sending: return .uploading
    case .signInNeeded: return .signInNeeded
    case .idle: break
    }
    if isParked { return .parked }
    guard try !storage.readyEntries(in: lane, now: now, limit: 1).isEmpty else {
      let next = try storage.nextReadyAt(in: lane) ?? now
      return .waiting(until: soonest(next, now), reason: "each of its entries waits by itself")
    }
    // Asked of a copy: looking costs nothing of the budget.
    var looked = retry
    switch looked.admit(state.backoff, for: state.purpose, now: now, policy: policy) {
    case .send: return .ready
    case .wait(let until):
      let known = state.backoff.failures > 0 ? reason : nil
      return .waiting(
        until: soonest(until, now), reason: known ?? "the backend fails, or asked to be left alone")
    }
  }

  /// Whether an account's claim of the device's purchases waits for its credentials.
  func needsSignIn(toClaimFor account: String) -> Bool { claims[account]?.needsSignIn ?? false }
}

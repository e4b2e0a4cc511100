public import PurchaseQueue

/// The state of a lane with entries, for a screen and for support.
public struct LaneStatus: Sendable, Hashable {
  /// The activity of a lane.
  @nonexhaustive
  public enum State: Sendable, Hashable {
    /// The next entry is sent at once.
    case ready
    /// An upload is being prepared, or is in flight.
    case uploading
    /// Nothing is sent before this moment, unless a new purchase, the foreground or the network wakes the lane.
    case waiting(until: Timestamp, reason: String)
    /// Its account has no credentials, or they were refused. Call `wake` with `.signedIn` when there are new ones.
    case signInNeeded
    /// The app is in the background.
    case suspended
  }

  /// The owner of the entries.
  public var lane: Lane
  /// The number of entries, without those in quarantine.
  public var entries: Int
  /// The activity of the lane.
  public var state: State

  /// A status, for an app's own previews and tests.
  public init(lane: Lane, entries: Int, state: State) {
    self.lane = lane
    self.entries = entries
    self.state = state
  }
}

/// When the store is asked for its list of unfinished transactions. Pure: the caller passes the moment, in milliseconds of
/// the monotonic clock.
///
/// ```
///              wanted                     wanted
///   idle ───────────────────▶ running ──────────────▶ running and wanted
///   ▲ │ wanted, too soon         ▲  │ ended                │ ended: wanted again
///   │ ▼                          │  ▼                      ▼
///   │ waiting ───── moment ──────┤  idle                   idle
///   │                            │  │ failed, and nothing else is wanted
///   │ stopped                    │  ▼
///   └───────────────── failed ───┘ moment, or wanted
/// ```
///
/// A list that is asked for while one is under way follows it: the first may have begun too early. One that fails is
/// repeated by itself, after the pauses of the policy's backoff.
package struct ListingTurns: Hashable, Sendable {
  package enum State: Hashable, Sendable, CaseIterable {
    case idle, waiting, failed, running, runningAndWanted
  }

  package enum Step: Hashable, Sendable {
    case list
    /// The moment comes in so many milliseconds.
    case wait(Int64)
    case nothing
  }

  package private(set) var state = State.idle
  private var pace = CallPace.listings
  /// How many lists in a row have failed.
  package private(set) var failures = 0

  package init() {}

  package var isRunning: Bool { state == .running || state == .runningAndWanted }

  /// Whether a list waits for its moment.
  package var isPostponed: Bool { state == .waiting || state == .failed }

  /// A list is wanted.
  package mutating func wanted(at now: Int64) -> Step {
    switch state {
    case .running, .runningAndWanted:
      state = .runningAndWanted
      return .nothing
    case .waiting: return .nothing
    case .idle, .failed:
      guard pace.takes(at: now) else {
        state = .waiting
        return .wait(pace.wait(at: now))
      }
      state = .running
      return .list
    }
  }

  /// The moment of `wait` has come.
  package mutating func momentCame(at now: Int64) -> Step {
    guard isPostponed else { return .nothing }
    state = .idle
    return wanted(at: now)
  }

  /// The engine is suspended, or shut down: the foreground asks for a list. True if one has waited for its moment.
  package mutating func stopped() -> Bool {
    guard isPostponed else { return false }
    state = .idle
    return true
  }

  /// The call of the store has ended. True if another list was wanted since.
  package mutating func ended() -> Bool {
    defer { state = .idle }
    return state == .runningAndWanted
  }

  package mutating func succeeded() { failures = 0 }

  /// The list did not come, or did not end. `isFollowed`: another one follows anyway.
  package mutating func failed(isFollowed: Bool, _ policy: RetryPolicy) -> Step {
    failures += 1
    guard !isFollowed, state == .idle else { return .nothing }
    state = .failed
    return .wait(policy.ceiling(afterFailures: failures))
  }
}

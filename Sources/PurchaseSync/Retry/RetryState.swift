package import PurchaseQueue

/// The retry state that all lanes of an installation share. It alone decides whether a request may go out.
///
/// A storage keeps it. Where `admit` changed it, it is committed with the attempt, before the request.
package struct RetryState: Hashable, Sendable, Codable {
  /// Requests after a failure.
  package var budget = RetryBudget()
  /// The backend as a whole.
  package var pace = BackendPace()
  /// By how many milliseconds all of this, and the waits of entries, were moved back altogether, because the clock went
  /// back.
  package var movedBack: Int64 = 0
  /// How often something of this was set to begin now, because it lay ahead of the clock.
  package var restarts = 0

  /// Whether a request may go out.
  package enum Admission: Hashable, Sendable {
    /// Now. The state includes the cost.
    case send
    /// Not before this moment; then it is asked again.
    case wait(until: Timestamp)
  }

  /// Nothing is known, nothing spent.
  package init() {}

  /// As it was stored.
  package init(budget: RetryBudget, pace: BackendPace) {
    self.budget = budget
    self.pace = pace
  }

  /// Verdicts came, or an adoption was taken.
  package mutating func succeeded(isUpload: Bool = true, now: Timestamp, policy: RetryPolicy) {
    let isSpent = budget.nextAllowed(.retry, now: now, policy: policy) > now
    pace.succeeded(isUpload: isUpload, isAwaited: isSpent, now: now, policy: policy)
  }

  /// The clock went back: what is left of a wait, and of the budget, stays as it was. `isShared`: another process may have
  /// stored it since. Then only what cannot be of the new time moves.
  mutating func follow(_ jump: ClockJump, isShared: Bool, policy: RetryPolicy) {
    if !isShared || budget.isAhead(of: jump.to, policy: policy) { budget.follow(jump) }
    pace.follow(jump, isShared: isShared)
  }

  /// Decides about one request of a lane. After a failure, of this lane or of the last upload of all, and if a wake brought
  /// it forward, it costs some of the budget; after a success it is free. After an outage only the pace limits the lanes
  /// that failed in it: one after another would wait for a request of the budget to come back.
  package mutating func admit(
    _ lane: LaneBackoff, for purpose: RetryBudget.Purpose, now: Timestamp, policy: RetryPolicy
  ) -> Admission {
    pace.clamp(now: now)
    let opens = max(lane.opensAt(now: now), pace.opensAt(now: now, policy: policy))
    guard opens <= now else { return .wait(until: opens) }
    let follows = lane.failures > 0 || lane.isEarly
    if follows, pace.isRecovering {
      pace.triedInRecovery()
    } else if follows || pace.isFailing {
      guard budget.spend(purpose, now: now, policy: policy) else {
        return .wait(until: budget.nextAllowed(purpose, now: now, policy: policy))
      }
    }
    pace.sent(now: now)
    return .send
  }
}

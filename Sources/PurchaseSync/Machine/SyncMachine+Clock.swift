import PurchaseQueue

/// A clock that went back: what lies beyond the horizon is brought back to it, once, and in the file too. Clamping only
/// what is read would put it off for ever.
extension SyncMachine {
  /// To be called with the moment of every event.
  mutating func note(_ now: Timestamp) {
    if now < latest {
      wentBack = true
      forgetWaits(overBy: latest, now: now)
    }
    latest = now
  }

  /// What was over stays over: a wait that nobody looked at since would begin anew.
  private mutating func forgetWaits(overBy moment: Timestamp, now: Timestamp) {
    for lane in lanes.keys { lanes[lane]?.backoff.forget(overBy: moment) }
    for account in claims.keys { claims[account]?.backoff.forget(overBy: moment) }
    for (key, state) in finishing {
      if let due = state.due, due <= moment { finishing[key]?.due = now }
    }
    retry.pace.forget(overBy: moment)
  }

  mutating func clampMoments(now: Timestamp) throws(QueueError) -> [SyncAction] {
    for lane in lanes.keys { lanes[lane]?.backoff.clamp(now: now, policy: policy) }
    for account in claims.keys { claims[account]?.backoff.clamp(now: now, policy: policy) }
    for (key, state) in finishing {
      guard let due = state.due.map({ soonest($0, now) }) else { continue }
      finishing[key]?.due = due
    }
    try readRetry()
    retry.pace.clamp(now: now, policy: policy)
    retry.budget.clamp(now: now)
    try keepRetry(now: now)
    try storage.clampPostponed(to: soonest(.distantFuture, now), now: now)
    if let trial = try storage.quarantineTrial() {
      let clamped = clamped(trial, now: now)
      if clamped != trial { try storage.keep(clamped) }
    }
    wentBack = false
    return []
  }

  private func clamped(_ trial: QuarantineTrial, now: Timestamp) -> QuarantineTrial {
    var trial = trial
    trial.at = min(trial.at, now)
    trial.notBefore = trial.notBefore?.mapValues { soonest($0, now) }
    return trial
  }

  /// No timer lies beyond the horizon.
  func soonest(_ moment: Timestamp, _ now: Timestamp) -> Timestamp {
    moment.clamped(to: policy.horizonMilliseconds, after: now)
  }
}

extension Timestamp {
  /// Later than every moment of a clock.
  static var distantFuture: Timestamp { Timestamp(milliseconds: .max) }
}

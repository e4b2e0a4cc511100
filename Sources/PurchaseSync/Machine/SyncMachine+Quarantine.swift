import PurchaseQueue

/// The slow lane: tried daily, and when the app was updated.
extension SyncMachine {
  mutating func tryQuarantine(now: Timestamp) throws(QueueError) -> [SyncAction] {
    let quarantined = try storage.quarantined()
    guard !quarantined.isEmpty else { return [] }
    let trial = try storage.quarantineTrial()
    if let trial, trial.appVersion == appVersion {
      let due = soonest(trial.at.adding(milliseconds: policy.quarantineRetryMilliseconds), now)
      // A clock that went back makes the last trial one of the future.
      guard due <= now else { return [.wake(at: due)] }
    }
    try storage.keep(QuarantineTrial(at: now, appVersion: appVersion))
    // A first one is only noted: it has just come here.
    guard trial != nil else { return [.wake(at: quarantineDue(now))] }
    for key in quarantined {
      guard try storage.release(key, now: now) else { break }
    }
    return [.wake(at: quarantineDue(now))]
  }

  func quarantineDue(_ now: Timestamp) -> Timestamp {
    soonest(now.adding(milliseconds: policy.quarantineRetryMilliseconds), now)
  }
}

import PurchaseQueue

/// The slow lane: tried daily, and when the app was updated.
extension SyncMachine {
  mutating func tryQuarantine(now: Timestamp) throws(QueueError) -> [SyncAction] {
    let quarantined = try storage.quarantined()
    guard !quarantined.isEmpty else { return [] }
    let trial = try storage.quarantineTrial()
    if let trial, trial.appVersion == appVersion {
      let due = soonest(trial.at.adding(milliseconds: policy.quarantineRetryMilliseconds), now)
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

  /// To quarantine; set aside for as long if that is full.
  mutating func park(
    _ key: EntryKey, _ reason: String, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    let isFirst = try storage.quarantined().isEmpty
    if try storage.quarantine(key, reason: reason, now: now) {
      let actions =
        [.emit(.quarantined(key, reason: reason)), .wake(at: quarantineDue(now))] + roomIsFree(now: now)
      guard isFirst else { return actions }
      // While it was empty, nothing was tried: its day begins now.
      return actions
        + attempt { (machine) throws(QueueError) in
          try machine.storage.keep(QuarantineTrial(at: now, appVersion: machine.appVersion))
          return []
        }
    }
    let until = now.adding(milliseconds: policy.quarantineRetryMilliseconds)
    try storage.postpone(key, until: until, reason: reason, now: now)
    return [.emit(.setAside(key, reason: reason, until: until))]
  }

  func quarantineDue(_ now: Timestamp) -> Timestamp {
    soonest(now.adding(milliseconds: policy.quarantineRetryMilliseconds), now)
  }
}

import PurchaseQueue

/// The slow lane: tried daily, and when the app was updated.
extension SyncMachine {
  mutating func tryQuarantine(now: Timestamp) throws(QueueError) -> [SyncAction] {
    guard try storage.hasQuarantined() else { return [] }
    let trial = try storage.quarantineTrial()
    if let trial, trial.appVersion == appVersion {
      // Another process of this installation had another clock.
      if trial.at > now { try storage.keep(QuarantineTrial(at: now, appVersion: appVersion)) }
      let due = soonest(trial.at.adding(milliseconds: policy.quarantineRetryMilliseconds), now)
      guard due <= now else { return [.wake(at: due)] }
    }
    let parked = try storage.quarantined()
    // Damaged entries count as well, and cannot be tried.
    guard !parked.isEmpty else { return [] }
    try storage.keep(QuarantineTrial(at: now, appVersion: appVersion))
    // A first one is only noted: it has just come here.
    guard trial != nil else { return [.wake(at: quarantineDue(now))] }
    stillParked = parked
    try releaseParked(now: now)
    return [.wake(at: quarantineDue(now))]
  }

  /// Each once in a trial: those for which there is no room now, when there is.
  mutating func releaseParked(now: Timestamp) throws(QueueError) {
    while let key = stillParked.first {
      if try storage.entry(key)?.state == .quarantined {
        guard try storage.release(key, now: now) else { return }
      }
      stillParked.removeFirst()
    }
  }

  /// A new proof is a reason to try again; false if there is no room. A store may sign anew each time it is asked, and
  /// parking makes room for which it is asked: so the first one is tried at once, the next ones ever more slowly.
  mutating func releaseProven(_ key: EntryKey, now: Timestamp) throws(QueueError) -> Bool {
    guard try storage.release(key, now: now) else { return false }
    let tries = provenAnew[key, default: 0]
    provenAnew[key] = tries + 1
    guard tries > 0 else { return true }
    let wait = policy.delayMilliseconds(afterFailures: tries + 4, using: &random)
    try storage.postpone(
      key, until: now.adding(milliseconds: max(wait, 1)), reason: "proven anew \(tries) times", now: now)
    return true
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

import PurchaseQueue

/// The slow lane: tried daily, and when the app was updated.
extension SyncMachine {
  mutating func tryQuarantine(now: Timestamp) throws(QueueError) -> [SyncAction] {
    guard try storage.hasQuarantined() else { return [] }
    let trial = try storage.quarantineTrial()
    if let trial, trial.appVersion == appVersion {
      // Another process of this installation had another clock.
      if trial.at > now { try storage.keep(begun(after: trial, now: now)) }
      let due = soonest(trial.at.adding(milliseconds: policy.quarantineRetryMilliseconds), now)
      guard due <= now else { return try [.wake(at: due)] + goOnAfterWaits(now: now) }
    }
    let parked = try storage.quarantined()
    // Damaged entries count as well, and cannot be tried.
    guard !parked.isEmpty else { return [] }
    try storage.keep(begun(after: trial, now: now))
    // A first one is only noted: it has just come here.
    guard trial != nil else { return [.wake(at: quarantineDue(now))] }
    stillParked = parked
    return try [.wake(at: quarantineDue(now))] + releaseParked(now: now)
  }

  /// Each once in a trial: those for which there is no room now, when there is; those that the backend does not want
  /// yet, when it does. In their lanes they would take the room of purchases until then.
  mutating func releaseParked(now: Timestamp) throws(QueueError) -> [SyncAction] {
    var waiting: [EntryKey] = []
    defer { stillParked += waiting }
    parkedWait = nil
    while let key = stillParked.first {
      if try storage.entry(key)?.state == .quarantined {
        if let asked = try outstandingWait(of: key, now: now) {
          parkedWait = min(parkedWait ?? asked, asked)
          waiting.append(stillParked.removeFirst())
          continue
        }
        guard try storage.release(key, until: nil, now: now) else { break }
      }
      stillParked.removeFirst()
    }
    return parkedWait.map { [.wake(at: $0)] } ?? []
  }

  /// The first of them has waited as long as the backend asked for.
  private mutating func goOnAfterWaits(now: Timestamp) throws(QueueError) -> [SyncAction] {
    guard let wait = parkedWait.map({ soonest($0, now) }) else { return [] }
    guard wait <= now else { return [.wake(at: wait)] }
    // What the store keeps comes first; they are next when it has been listed.
    return hasOverflow ? [] : try releaseParked(now: now)
  }

  /// A trial that begins now, and what the backend asked for in the ones before.
  private func begun(after last: QuarantineTrial?, now: Timestamp) -> QuarantineTrial {
    var trial = QuarantineTrial(at: now, appVersion: appVersion)
    trial.notBefore = last?.notBefore?.filter { $0.value > now }
    return trial
  }

  /// What the backend asked for when it was parked, if that is not over.
  private func outstandingWait(of key: EntryKey, now: Timestamp) throws(QueueError) -> Timestamp? {
    guard let asked = try storage.quarantineTrial()?.notBefore?[key.rawValue], asked > now else { return nil }
    return soonest(asked, now)
  }

  /// A new proof is a reason to try again; false if there is no room. A store may sign anew each time it is asked, and
  /// parking makes room for which it is asked: so the first one is tried at once, the next ones ever more slowly.
  mutating func releaseProven(_ key: EntryKey, now: Timestamp) throws(QueueError) -> Bool {
    let tries = provenAnew[key, default: 0]
    let asked = try outstandingWait(of: key, now: now)
    var until = asked
    if tries > 0 {
      let wait = policy.delayMilliseconds(afterFailures: tries + 4, using: &random)
      until = max(asked ?? now, now.adding(milliseconds: max(wait, 1)))
    }
    guard try storage.release(key, until: until, now: now) else { return false }
    provenAnew[key] = tries + 1
    if asked != nil { askedToWait.insert(key) }
    return true
  }

  /// To quarantine; set aside for as long if that is full. `asked` is when the backend wants it again at the earliest.
  mutating func park(
    _ key: EntryKey, _ reason: String, asked: Timestamp? = nil, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    let isFirst = try storage.quarantined().isEmpty
    // Before it is there: a kill or a full disk in between would let a new proof come before what was asked for.
    if asked != nil { try noteParked(key, asked, isFirst, now: now) }
    if try storage.quarantine(key, reason: reason, now: now) {
      var actions: [SyncAction] = [
        .emit(.quarantined(key, reason: reason)), .wake(at: quarantineDue(now)),
      ]
      if isFirst, asked == nil {
        actions += attempt { (machine) throws(QueueError) in
          try machine.noteParked(key, nil, true, now: now)
          return []
        }
      }
      return actions + roomIsFree(now: now)
    }
    let tried = now.adding(milliseconds: policy.quarantineRetryMilliseconds)
    let until = max(tried, asked ?? tried)
    try storage.postpone(key, until: until, reason: reason, now: now)
    return [.emit(.setAside(key, reason: reason, until: until))]
  }

  private mutating func noteParked(
    _ key: EntryKey, _ asked: Timestamp?, _ isFirst: Bool, now: Timestamp
  ) throws(QueueError) {
    let last = try storage.quarantineTrial()
    // While it was empty, nothing was tried: its day begins now.
    var trial = begun(after: last, now: now)
    if !isFirst, let last { (trial.at, trial.appVersion) = (last.at, last.appVersion) }
    if let asked { trial.notBefore = (trial.notBefore ?? [:]).merging([key.rawValue: asked]) { $1 } }
    try storage.keep(trial)
  }

  func quarantineDue(_ now: Timestamp) -> Timestamp {
    soonest(now.adding(milliseconds: policy.quarantineRetryMilliseconds), now)
  }
}

package import PurchaseQueue

/// Uploads without verdicts. None of them is final; what is known of the backend is committed before the next one.
extension SyncMachine {
  /// No verdicts came.
  package mutating func uploadFailed(
    lane: Lane, _ failure: UploadFailure, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    let actions = try took(failure, of: lane, now: now)
    return isRoomNews ? actions + askForOverflow() : actions
  }

  private mutating func took(
    _ failure: UploadFailure, of lane: Lane, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    let all = sent(in: lane).map(\.key)
    let sent = all.filter { givenUp.remove($0) == nil }
    // What is left of a company did not fail alone.
    let wasAlone = all.count == 1
    lanes[lane]?.activity = .idle
    note(now)
    return try hearRetry() + after(failure, of: lane, sent, wasAlone, now: now)
  }

  private mutating func after(
    _ failure: UploadFailure, of lane: Lane, _ sent: [EntryKey], _ wasAlone: Bool, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    var backoff = lanes[lane, default: LaneState()].backoff
    switch failure.inLane(lane) {
    case .retry(let reason, let retryAfter):
      retry.pace.failed(now: now, policy: policy, using: &random)
      backoff.failed(retryAfterMilliseconds: retryAfter, now: now, policy: policy, using: &random)
      lanes[lane]?.backoff = backoff
      // The lane forgets it when the process dies; the entries do not.
      if let asked = backoff.notBefore { try wait(sent, until: asked, reason, now: now) }
      return try failed(sent, wasAlone, lane, reason, now: now)
    case .backendBusy(let reason, let retryAfter):
      retry.pace.failed(
        retryAfterMilliseconds: retryAfter, now: now, policy: policy, using: &random)
      backoff.failed(now: now, policy: policy, using: &random)
      lanes[lane]?.backoff = backoff
      return try failed(sent, wasAlone, lane, reason, now: now)
    case .backendFault(let reason):
      backoff.refused(now: now, policy: policy, using: &random)
      lanes[lane]?.backoff = backoff
      return try [.emit(.backendFault(reason: reason))] + failed(sent, wasAlone, lane, reason, now: now)
    case .signInNeeded:
      if lanes[lane]?.hasSignedIn == true { return sendNext(lane, now: now) }
      lanes[lane]?.activity = .signInNeeded
      return [.emit(.signInNeeded(lane))]
    case .proofMissing:
      return try setAside(sent, now: now) + sendNext(lane, now: now)
    case .unreadable(let key, let reason):
      return try park(key, reason, now: now) + sendNext(lane, now: now)
    case .laneTaken: return waitLonger(lane, "another process is sending this lane", now: now)
    case .unprepared(let reason): return waitLonger(lane, reason, now: now)
    case .interrupted:
      return []
    }
  }

  /// Nothing was sent, and nobody is to blame: the lane waits, each time longer.
  private mutating func waitLonger(_ lane: Lane, _ reason: String, now: Timestamp) -> [SyncAction] {
    lanes[lane]?.backoff.notSent(now: now, policy: policy, using: &random)
    let opens = lanes[lane]?.backoff.opensAt(now: now, policy: policy) ?? now
    let until = soonest(opens, now)
    return [.emit(.waiting(lane, reason: reason, until: until)), .wake(at: until)]
  }

  private mutating func wait(
    _ keys: [EntryKey], until: Timestamp, _ reason: String, now: Timestamp
  ) throws(QueueError) {
    for key in keys {
      try storage.postpone(key, until: until, reason: reason, now: now)
      askedToWait.insert(key)
    }
  }

  private mutating func failed(
    _ sent: [EntryKey], _ wasAlone: Bool, _ lane: Lane, _ reason: String, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    var watches: [EntryKey: PoisonWatch] = [:]
    for key in sent {
      var watch = try storage.watch(of: key)
      watch.failed(now: now)
      watches[key] = watch
    }
    try keepRetry(watches, now: now)
    var actions: [SyncAction] = []
    // Only the head is judged, and only when it went alone: what failed in company may be another's fault.
    if let head = sent.first, let watch = watches[head], wasAlone {
      actions += try judge(head, watch, lane, reason, now: now)
    }
    let opens = lanes[lane]?.backoff.opensAt(now: now, policy: policy) ?? now
    let until = soonest(max(opens, retry.pace.opensAt(now: now, policy: policy)), now)
    return actions + [.emit(.waiting(lane, reason: reason, until: until)), .wake(at: until)]
  }

  private mutating func judge(
    _ key: EntryKey, _ watch: PoisonWatch, _ lane: Lane, _ reason: String, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    let behind = try storage.readyEntries(in: lane, now: now, limit: 2).first { $0.key != key }
    let judgement = watch.judge(
      behindSince: behind?.enqueuedAt, othersSucceededAt: retry.pace.succeededAt, now: now, policy: policy,
      using: &random)
    switch judgement {
    case .keep: return []
    case .park:
      let asked = lanes[lane]?.backoff.notBefore
      return try park(key, "fails while others succeed: \(reason)", asked: asked, now: now)
    case .setAside(let due):
      // Those behind it did not fail: they go on by the lane's own pace.
      let until = max(due, lanes[lane]?.backoff.notBefore ?? due)
      try storage.postpone(key, until: until, reason: reason, now: now)
      return [.emit(.setAside(key, reason: reason, until: until))]
    }
  }

  /// Unsent, for the cap's time: a transaction that is redelivered brings its proof along.
  private mutating func setAside(_ keys: [EntryKey], now: Timestamp) throws(QueueError) -> [SyncAction] {
    let reason = "its proof is neither here nor in the store"
    let until = now.adding(milliseconds: policy.capMilliseconds)
    for key in keys { try storage.postpone(key, until: until, reason: reason, now: now) }
    return keys.map { .emit(.setAside($0, reason: reason, until: until)) }
  }
}

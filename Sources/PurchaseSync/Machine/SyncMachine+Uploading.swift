package import PurchaseQueue

/// Sending a lane's head, and what its answer means.
extension SyncMachine {
  /// The most entries that one upload carries (wire protocol).
  static var claimsPerUpload: Int { 100 }
  /// A day.
  static var quarantineRetry: Int64 { 86_400_000 }

  mutating func sendAll(now: Timestamp) throws(QueueError) -> [SyncAction] {
    var actions: [SyncAction] = []
    for lane in try storage.lanes() { actions += try send(lane, now: now) }
    return actions
  }

  /// Sends the head of a lane, with the run behind it that has the same proof, if the lane is free.
  mutating func send(_ lane: Lane, now: Timestamp) throws(QueueError) -> [SyncAction] {
    var state = lanes[lane, default: LaneState()]
    switch state.activity {
    case .sending, .signInNeeded: return []
    case .waiting(let until) where until > now: return [.wake(at: until)]
    case .waiting, .idle: break
    }
    if let notBefore = state.notBefore {
      guard notBefore <= now else { return [.wake(at: notBefore)] }
      state.notBefore = nil
    }
    let queued = try storage.entries(in: lane, limit: Self.claimsPerUpload)
    let ready = queued.filter { $0.readyAt <= now }
    guard let head = ready.first else {
      lanes[lane] = state
      guard let next = queued.map(\.readyAt).min() else { return [] }
      return [.wake(at: next)]
    }
    let run = Array(ready.prefix { $0.proofs == head.proofs })
    let keys = run.map(\.key)
    try storage.recordAttempt(keys, now: now)
    state.activity = .sending(keys)
    lanes[lane] = state
    return [.emit(.uploading(keys)), .send(lane: lane, entries: run)]
  }

  /// The backend answered with verdicts.
  package mutating func replyArrived(
    lane: Lane, _ reply: UploadReply, now: Timestamp, using random: inout some RandomNumberGenerator
  ) throws(QueueError) -> [SyncAction] {
    guard let sent = finishSending(lane) else { return [] }
    var settlements: [Settlement] = []
    var actions: [SyncAction] = []
    var answered: Set<EntryKey> = []
    for verdict in reply.verdicts {
      // A verdict for something that was not claimed is ignored; of two for one claim the first counts.
      guard let key = sent.first(where: { Self.names($0, verdict) }), answered.insert(key).inserted else {
        continue
      }
      if verdict.verdict.isSettled {
        settlements.append(
          Settlement(
            key: key, outcome: verdict.verdict.rawValue, orderNumber: verdict.orderNumber, owesFinish: true,
            isUnseen: true))
      } else {
        actions += try keep(key, verdict, now: now, using: &random)
      }
    }
    for tombstone in try storage.acknowledge(settlements, now: now) {
      actions += startFinish(tombstone)
      actions.append(.emit(.delivered(Outcome(tombstone))))
    }
    if answered.count < sent.count {
      return try actions
        + wait(lane, reason: "a claim was not answered", retryAfter: nil, now: now, using: &random)
    }
    lanes[lane]?.failures = 0
    return try actions + send(lane, now: now)
  }

  /// No verdicts came.
  package mutating func uploadFailed(
    lane: Lane, _ failure: UploadFailure, now: Timestamp, using random: inout some RandomNumberGenerator
  ) throws(QueueError) -> [SyncAction] {
    guard let sent = finishSending(lane) else { return [] }
    switch failure {
    case .retry(let reason, let retryAfter), .backendBusy(let reason, let retryAfter):
      return try wait(lane, reason: reason, retryAfter: retryAfter, now: now, using: &random)
    case .backendFault(let reason):
      return try wait(lane, reason: reason, retryAfter: policy.capMilliseconds, now: now, using: &random)
    case .signInNeeded:
      lanes[lane]?.activity = .signInNeeded
      return [.emit(.signInNeeded(lane))]
    case .proofMissing:
      return try setAside(sent, now: now) + send(lane, now: now)
    case .interrupted:
      return []
    }
  }

  /// Unsent, and for an hour: a transaction that is redelivered brings its proof along.
  private mutating func setAside(_ keys: [EntryKey], now: Timestamp) throws(QueueError) -> [SyncAction] {
    let due = now.adding(milliseconds: policy.capMilliseconds)
    for key in keys {
      try storage.postpone(key, until: due, reason: "its proof is neither here nor in the store", now: now)
    }
    return keys.map { .emit(.setAside($0, until: due)) }
  }

  /// What the lane had sent; nil if it had not, which a driver does not do.
  private mutating func finishSending(_ lane: Lane) -> [EntryKey]? {
    guard case .sending(let keys)? = lanes[lane]?.activity else { return nil }
    lanes[lane]?.activity = .idle
    return keys
  }

  private mutating func wait(
    _ lane: Lane, reason: String, retryAfter: Int64?, now: Timestamp,
    using random: inout some RandomNumberGenerator
  ) throws(QueueError) -> [SyncAction] {
    var state = lanes[lane, default: LaneState()]
    state.failures += 1
    let delay = policy.delayMilliseconds(
      afterFailures: state.failures, retryAfterMilliseconds: retryAfter, using: &random)
    let until = now.adding(milliseconds: delay)
    state.activity = .waiting(until: until)
    if retryAfter != nil { state.notBefore = until }
    lanes[lane] = state
    return [.emit(.waiting(lane, reason: reason, until: until)), .wake(at: until)]
  }

  /// An answer that settles nothing: the entry stays, and the lane goes on without it.
  private mutating func keep(
    _ key: EntryKey, _ verdict: ClaimVerdict, now: Timestamp, using random: inout some RandomNumberGenerator
  ) throws(QueueError) -> [SyncAction] {
    if verdict.verdict == .rejected {
      let reason = Redaction.line(verdict.reason ?? "rejected")
      if try storage.quarantine(key, reason: "rejected: \(reason)", now: now) {
        return [.emit(.quarantined(key, reason: reason))]
      }
      // The quarantine is full: it stays set aside in its lane, and is tried as often as it would be there.
      try storage.postpone(
        key, until: now.adding(milliseconds: Self.quarantineRetry), reason: "rejected: \(reason)", now: now)
      return []
    }
    // `pending`, `unknownTransaction`, and words of a newer protocol.
    let asked = verdict.retryAfter.map { Int64(min(max($0, 0), 86_400) * 1_000) }
    let delay = policy.delayMilliseconds(afterFailures: 4, retryAfterMilliseconds: asked, using: &random)
    let due = now.adding(milliseconds: max(delay, 1))
    try storage.postpone(key, until: due, reason: verdict.verdict.rawValue, now: now)
    return []
  }

  private static func names(_ key: EntryKey, _ verdict: ClaimVerdict) -> Bool {
    let name = verdict.environment + "/" + verdict.transactionID
    return key.rawValue == name || key.rawValue.hasPrefix(name + "@")
  }
}

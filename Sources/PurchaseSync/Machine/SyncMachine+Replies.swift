import PurchaseQueue

/// The effects of the verdicts of a reply.
extension SyncMachine {
  /// An update took the place of a question that was in flight: the answer is not about the update.
  mutating func forgetReplacedQuestions(in lane: Lane) {
    guard lane.asker != nil else { return }
    for entry in state(of: lane).sent {
      let isThere: Bool
      do throws(QueueError) {
        isThere = try laneStorage.entry(entry.key)?.lane == lane
      } catch {
        isThere = false  // Unknown: the question is asked again.
      }
      if !isThere { update(lane) { state, _ in state.discarded(entry.key) } }
    }
  }

  // MARK: Settled

  /// Settles every claim with a settling verdict in one commit, then finishes the transactions and publishes the
  /// outcomes. True if there was any. `arrived`: deliveries of the entries while they were in flight.
  mutating func settle(
    _ answer: UploadAnswer, _ request: InFlight, arrived: [EntryKey: StoreTransaction],
    _ actions: inout [SyncAction], now: Timestamp
  ) throws(QueueError) -> Bool {
    var settled: [SettledClaim] = []
    var matches: [SyncAction] = []
    for index in answer.sent.indices where answer.isSettled(index) {
      // Discarded while in flight. A newer entry with this key is an update; the reply does not apply to it.
      if request.discarded.contains(answer.sent[index].key) { continue }
      var claim = try claim(answer, index, excluding: settled, &matches)
      // What arrived in this process is looked at below. A newer proof that another process got is a pending update, in
      // the commit that settles: the backend is asked once more whether it is one.
      if !request.arrived.contains(claim.key) { claim.sent = answer.sent[index].payloads }
      settled.append(claim)
    }
    guard !settled.isEmpty else { return false }
    let result = try settlementStorage.settle(settled, now: now)
    if result.hasPendingUpdates { _ = hasPendingUpdate(now: now) }
    let tombstones = result.tombstones
    actions += matches
    for claim in settled { forgetProofReleases(of: claim.key) }
    for tombstone in tombstones {
      if let transaction = arrived[tombstone.key] {
        actions += .attempting { () throws(QueueError) in
          try redelivered(transaction, tombstone, now: now)
        }
      } else {
        finish(tombstone, now: now, into: &actions)
      }
      actions.append(.emit(SyncEvent(publishing: Outcome(tombstone))))
    }
    for claim in settled where claim.keepsTombstone {
      guard let transaction = arrived[claim.key] else { continue }
      actions += .attempting { () throws(QueueError) in
        guard let tombstone = try settlementStorage.tombstone(claim.key) else { return [] }
        return try redelivered(transaction, tombstone, now: now)
      }
    }
    return true
  }

  private func claim(
    _ answer: UploadAnswer, _ index: Int, excluding others: [SettledClaim], _ actions: inout [SyncAction]
  ) throws(QueueError) -> SettledClaim {
    let key = answer.sent[index].key
    let lane = answer.sent[index].lane
    var claim = SettledClaim(key: key, verdict: answer.verdicts[index]?.verdict ?? .pending)
    let owner = PurchaseOwner.settled(claim.verdict, stated: answer.verdicts[index]?.owner, in: lane)
    if owner != .usual(of: claim.verdict, in: lane) { claim.owner = owner }
    if claim.owner == .yours, lane == .device { claim.provenBy = answer.presented }
    claim.refund = answer.verdicts[index].flatMap { RefundNote($0) }
    claim.keepsTombstone = lane.asker != nil
    guard !claim.keepsTombstone, let number = answer.verdicts[index]?.orderNumber,
      number != answer.sent[index].orderNumber
    else {
      return claim
    }
    // Neither claim is committed, so the storage does not know. The first one gets the order, as if it had come alone.
    if others.contains(where: { $0.orderNumber == number }) {
      actions.append(.emit(.backendFault(reason: "\(key): another transaction is bound to the order")))
      return claim
    }
    switch try settlementStorage.binding(by: number, of: key) {
    case .keep: break
    case .bind(let number):
      claim.orderNumber = number
      // The order of another account's purchase is not for the app to show.
      if owner != .another { actions.append(.emit(.matched(key, orderNumber: number))) }
    case .contradiction(let reason): actions.append(.emit(.backendFault(reason: "\(key): \(reason)")))
    }
    return claim
  }

  mutating func finish(_ tombstone: Tombstone, now: Timestamp, into actions: inout [SyncAction]) {
    storeSide.finishes.begin(tombstone, now: now, into: &actions)
  }

  // MARK: Not settled

  /// Claims without a settling verdict, or without any: the entries stay, and the lane goes on without them.
  mutating func keepUnsettled(
    of answer: UploadAnswer, _ request: InFlight, in lane: Lane, _ actions: inout [SyncAction],
    now: Timestamp
  ) throws(QueueError) {
    for index in answer.sent.indices where !answer.isSettled(index) {
      let entry = answer.sent[index]
      if request.discarded.contains(entry.key) { continue }
      guard let verdict = answer.verdicts[index] else {
        actions += try notAnswered(entry.key, now: now)
        continue
      }
      switch verdict.verdict {
      case .rejected, .unknownTransaction:
        // The verdict is about a proof that has been replaced since. The newer one is sent.
        if let present = try laneStorage.entry(entry.key), present.payloads != entry.payloads {
          if verdict.waitMilliseconds != nil { try postpone(entry.key, afterFailures: 1, verdict, now: now) }
          continue
        }
        actions += try keep(entry.key, verdict, now: now)
      // Pending, and words of a newer protocol.
      default: try keepPending(entry, verdict, now: now)
      }
    }
  }

  private mutating func keep(
    _ key: EntryKey, _ verdict: ClaimVerdict, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    var watch = try attemptStorage.watch(of: key)
    let asked = verdict.waitMilliseconds.map { asked in
      now.adding(milliseconds: draw { $0.floor(askedMilliseconds: asked) })
    }
    guard verdict.verdict == .unknownTransaction else {
      watch.answered()
      try commitRetry([key: watch], now: now)
      if let actions = try dropUpdateOfOver(key, now: now) { return actions }
      let reason = Redaction.line(verdict.reason ?? "without a reason")
      return try moveToQuarantine(key, "rejected: \(reason)", asked: asked, now: now)
    }
    let isLast = watch.wasUnknown(now: now, policy: policy)
    try commitRetry([key: watch], now: now)
    if isLast, let actions = try dropUpdateOfOver(key, now: now) { return actions }
    if isLast { return try moveToQuarantine(key, "no receipt holds it", asked: asked, now: now) }
    try postpone(key, afterFailures: watch.unknownAnswers + 2, verdict, now: now)
    return [.readProof(key)]
  }

  /// An update that gives nothing, of what gave nothing: a later proof of a refund, or what is offered to another ledger,
  /// because a refund may be reversed and a renewal follows its first period. No person waits for it: if the backend takes
  /// neither the proof nor the id, the earlier outcome stays, and support staff have nothing to look at. Nil for everything
  /// else: the outcome of one account is no answer to the question of another.
  private mutating func dropUpdateOfOver(_ key: EntryKey, now: Timestamp) throws(QueueError) -> [SyncAction]?
  {
    guard let tombstone = try settlementStorage.tombstone(key), tombstone.verdict.isOver,
      Outcome(tombstone).unitsHeld == 0, let update = try laneStorage.entry(key),
      update.lane.asker == nil,
      update.details == tombstone.details || EntryDetails(of: update).known?.isRefunded == true
    else { return nil }
    var claim = SettledClaim(key: key, verdict: tombstone.verdict)
    claim.keepsTombstone = true
    if try settlementStorage.settle([claim], now: now).hasPendingUpdates { _ = hasPendingUpdate(now: now) }
    forgetProofReleases(of: key)
    return capacityFreed(now: now)
  }

  /// Without a Retry-After the backend is asked less and less often: the store's answer may take days.
  private mutating func keepPending(
    _ entry: Entry, _ verdict: ClaimVerdict, now: Timestamp
  ) throws(QueueError) {
    var watch = try attemptStorage.watch(of: entry.key)
    if watch != PoisonWatch() {
      watch.answered()
      try commitRetry([entry.key: watch], now: now)
    }
    try postpone(entry.key, afterFailures: max(4, entry.attempts + 1), verdict, now: now)
  }

  private mutating func postpone(
    _ key: EntryKey, afterFailures failures: Int, _ verdict: ClaimVerdict, now: Timestamp
  ) throws(QueueError) {
    let wait = draw {
      $0.wait(afterFailures: failures, retryAfterMilliseconds: verdict.waitMilliseconds, now: now)
    }
    try laneStorage.postpone(key, wait, reason: verdict.verdict.rawValue, now: now)
  }

  /// The reply has no verdict about the claim: the claim failed by itself.
  private mutating func notAnswered(_ key: EntryKey, now: Timestamp) throws(QueueError) -> [SyncAction] {
    var watch = try attemptStorage.watch(of: key)
    watch.failed(now: now)
    try commitRetry([key: watch], now: now)
    if judge(watch, hasOthers: false, now: now) == .quarantine {
      return try moveToQuarantine(key, "not answered while others are", now: now)
    }
    let wait = draw { $0.wait(afterFailures: watch.failedRounds, now: now) }
    try laneStorage.postpone(key, wait, reason: "not answered", now: now)
    return []
  }
}

package import PurchaseQueue

/// What the verdicts of an upload mean (design.md, 'Verdicts').
extension SyncMachine {
  /// The backend answered with verdicts. What cannot be stored of them is sent again, but not before what they asked for.
  package mutating func replyArrived(lane: Lane, _ reply: UploadReply, now: Timestamp) -> [SyncAction] {
    let answer = UploadAnswer(to: sent(in: lane), reply.verdicts)
    note(now)
    var actions = hearRetry()
    retry.pace.succeeded(now: now, policy: policy)
    var backoff = LaneBackoff()
    // Of each claim a finish and an outcome, and what is sent next.
    actions.reserveCapacity(2 * answer.sent.count + 3)
    for fault in answer.faults { actions.append(.emit(.backendFault(reason: fault))) }
    var hasSettled = false
    do throws(QueueError) {
      // First: what is settled without it being known under which epoch would not be offered again.
      actions += try epochArrived(reply.ledgerEpoch)
      hasSettled = try settle(answer, &actions, now: now)
      // Another process may have heard of a new one in between, and have offered again what was settled by then.
      if hasSettled { actions += try epochArrived(reply.ledgerEpoch) }
      try keepRest(of: answer, &actions, now: now)
    } catch {
      backoff.failed(
        retryAfterMilliseconds: answer.longestWait, now: now, policy: policy, using: &random)
      actions.append(.storageFailed(error))
    }
    if !arrivedMeanwhile.isEmpty { for entry in answer.sent { arrivedMeanwhile[entry.key] = nil } }
    if !givenUp.isEmpty { givenUp.subtract(answer.sent.map(\.key)) }
    // Only now: what makes room meanwhile looks at all lanes, and would send again what has yet to be set aside.
    lanes[lane]?.ended(backoff)
    if hasSettled || hasOwedUpdates { actions += takeRoom(now: now) }
    if lane == .device, !claims.isEmpty { actions += claimAgain(now: now) }
    sendNext(lane, into: &actions, now: now)
    return isRoomNews ? actions + askForOverflow() : actions
  }

  // MARK: Settled

  /// Everything that is settled, in one commit; then its finish, and the app is told. True if there was any.
  private mutating func settle(
    _ answer: UploadAnswer, _ actions: inout [SyncAction], now: Timestamp
  ) throws(QueueError) -> Bool {
    var settled: [SettledClaim] = []
    var matches: [SyncAction] = []
    for index in answer.sent.indices where answer.isSettled(index) {
      if givenUp.contains(answer.sent[index].key) { continue }
      settled.append(try claim(answer, index, besides: settled, &matches))
    }
    guard !settled.isEmpty else { return false }
    // Before they are settled: what is noted without them is dropped, what is not noted would be lost.
    for key in try changedElsewhere(answer) {
      try storage.oweUpdate(of: key)
      hasOwedUpdates = true
    }
    let tombstones = try storage.acknowledge(settled, now: now)
    actions += matches
    if !provenAnew.isEmpty { for claim in settled { provenAnew[claim.key] = nil } }
    for index in tombstones.indices {
      if let news = arrivedMeanwhile[tombstones[index].key] {
        actions += attempt { (machine) throws(QueueError) in
          try machine.redelivered(news, tombstones[index], now: now)
        }
      } else {
        startFinish(tombstones[index], into: &actions)
      }
      actions.append(.emit(.delivered(Outcome(tombstones[index]))))
    }
    return true
  }

  /// Of what is settled: what another process of this installation was handed anew while it was out. Whether that is
  /// news, the backend is asked once more. What this one was handed, it knows (`arrivedMeanwhile`).
  private func changedElsewhere(_ answer: UploadAnswer) throws(QueueError) -> [EntryKey] {
    var changed: [EntryKey] = []
    for index in answer.sent.indices where answer.isSettled(index) {
      let sent = answer.sent[index]
      guard arrivedMeanwhile[sent.key] == nil, let present = try storage.entry(sent.key) else { continue }
      // A newer app receipt has no place for news.
      let isNewer = present.proofs.contains { !$0.isAppReceipt && !sent.proofs.contains($0) }
      if isNewer { changed.append(sent.key) }
    }
    return changed
  }

  private func claim(
    _ answer: UploadAnswer, _ index: Int, besides others: [SettledClaim], _ actions: inout [SyncAction]
  ) throws(QueueError) -> SettledClaim {
    let key = answer.sent[index].key
    var claim = SettledClaim(key: key, verdict: answer.verdicts[index]?.verdict ?? .pending)
    guard let number = answer.verdicts[index]?.orderNumber, number != answer.sent[index].orderNumber else {
      return claim
    }
    // Neither has it yet, so the storage cannot know: the first gets it, as if it had come alone.
    if others.contains(where: { $0.orderNumber == number }) {
      actions.append(.emit(.backendFault(reason: "\(key): another transaction is bound to the order")))
      return claim
    }
    switch try storage.binding(by: number, of: key) {
    case .keep: break
    case .bind(let number):
      claim.orderNumber = number
      actions.append(.emit(.matched(key, orderNumber: number)))
    case .contradiction(let reason): actions.append(.emit(.backendFault(reason: "\(key): \(reason)")))
    }
    return claim
  }

  // MARK: Not settled

  /// Answers that settle nothing, and no answers: the entries stay, and the lane goes on without them.
  private mutating func keepRest(
    of answer: UploadAnswer, _ actions: inout [SyncAction], now: Timestamp
  ) throws(QueueError) {
    for index in answer.sent.indices where !answer.isSettled(index) {
      let entry = answer.sent[index]
      if givenUp.contains(entry.key) { continue }
      guard let verdict = answer.verdicts[index] else {
        actions += try missed(entry.key, now: now)
        continue
      }
      if let asked = verdict.waitMilliseconds, asked > 0 { askedToWait.insert(entry.key) }
      switch verdict.verdict {
      case .rejected, .unknownTransaction:
        // Said of a proof that has been replaced meanwhile: the newer one is asked about.
        if let present = try storage.entry(entry.key), present.proofs != entry.proofs {
          if verdict.waitMilliseconds != nil { try postpone(entry.key, afterFailures: 1, verdict, now: now) }
          continue
        }
        actions += try keep(entry.key, verdict, now: now)
      // And words of a newer protocol.
      default: try keepPending(entry, verdict, now: now)
      }
    }
  }

  private mutating func keep(
    _ key: EntryKey, _ verdict: ClaimVerdict, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    var watch = try storage.watch(of: key)
    let asked = verdict.waitMilliseconds.map {
      now.adding(milliseconds: policy.floorMilliseconds(asked: $0, using: &random))
    }
    guard verdict.verdict == .unknownTransaction else {
      watch.answered()
      try keepRetry([key: watch], now: now)
      let reason = Redaction.line(verdict.reason ?? "without a reason")
      return try park(key, "rejected: \(reason)", asked: asked, now: now)
    }
    let isLast = watch.wasUnknown(policy: policy)
    try keepRetry([key: watch], now: now)
    if isLast { return try park(key, "no receipt holds it", asked: asked, now: now) }
    try postpone(key, afterFailures: watch.unknownAnswers + 2, verdict, now: now)
    return [.readReceipt(key)]
  }

  /// Without a wait of the backend's own, it is asked less and less often: the store's answer may take days.
  private mutating func keepPending(
    _ entry: Entry, _ verdict: ClaimVerdict, now: Timestamp
  ) throws(QueueError) {
    var watch = try storage.watch(of: entry.key)
    if watch != PoisonWatch() {
      watch.answered()
      try keepRetry([entry.key: watch], now: now)
    }
    try postpone(entry.key, afterFailures: max(4, entry.attempts + 1), verdict, now: now)
  }

  private mutating func postpone(
    _ key: EntryKey, afterFailures failures: Int, _ verdict: ClaimVerdict, now: Timestamp
  ) throws(QueueError) {
    let wait = policy.delayMilliseconds(
      afterFailures: failures, retryAfterMilliseconds: verdict.waitMilliseconds, using: &random)
    let until = now.adding(milliseconds: max(wait, 1))
    try storage.postpone(key, until: until, reason: verdict.verdict.rawValue, now: now)
  }

  /// A claim without a verdict has failed by itself: others were answered, or none.
  private mutating func missed(_ key: EntryKey, now: Timestamp) throws(QueueError) -> [SyncAction] {
    var watch = try storage.watch(of: key)
    watch.failed(now: now)
    try keepRetry([key: watch], now: now)
    let judgement = watch.judge(
      behindSince: nil, othersSucceededAt: retry.pace.succeededAt, now: now, policy: policy, using: &random)
    if judgement == .park { return try park(key, "not answered while others are", now: now) }
    let wait = policy.delayMilliseconds(afterFailures: watch.failedRounds, using: &random)
    try storage.postpone(
      key, until: now.adding(milliseconds: max(wait, 1)), reason: "not answered", now: now)
    return []
  }
}

package import PurchaseQueue

/// What the verdicts of an upload mean (design.md, 'Verdicts').
extension SyncMachine {
  /// The backend answered with verdicts.
  package mutating func replyArrived(
    lane: Lane, _ reply: UploadReply, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    let sent = endSending(lane)
    retry.pace.succeeded(now: now, policy: policy)
    lanes[lane]?.backoff.succeeded()
    var answer = Answer(sent: sent)
    var actions = answer.take(reply.verdicts).map { SyncAction.emit(.backendFault(reason: $0)) }
    var settled: [SettledClaim] = []
    for (key, verdict) in answer.verdicts {
      if verdict.verdict.isSettled {
        settled.append(try settle(key, verdict, &actions))
      } else {
        actions += try keep(key, verdict, now: now)
      }
    }
    try missed(answer.unanswered, now: now)
    for tombstone in try storage.acknowledge(settled, now: now) {
      actions += startFinish(tombstone)
      actions.append(.emit(.delivered(Outcome(tombstone))))
    }
    actions += attempt { (machine) throws(QueueError) in try machine.epochArrived(reply.ledgerEpoch) }
    if !settled.isEmpty { actions += roomIsFree() }
    if hasOwedUpdates {
      actions += attempt { (machine) throws(QueueError) in try machine.queueOwedUpdates(now: now) }
    }
    if lane == .device, !claims.isEmpty { actions += claimAgain(now: now) }
    return actions + sendNext(lane, now: now)
  }

  /// Which claim each verdict is about. Pure, and apart, because a reply can say anything.
  struct Answer {
    let sent: [EntryKey]
    private(set) var verdicts: [(EntryKey, ClaimVerdict)] = []
    private var answered: [EntryKey: ClaimVerdict] = [:]

    init(sent: [EntryKey]) { self.sent = sent }

    var unanswered: [EntryKey] { sent.filter { answered[$0] == nil } }

    /// Returns what is wrong with the reply. A verdict for what was not claimed is ignored; of two for one claim the
    /// first counts.
    mutating func take(_ all: [ClaimVerdict]) -> [String] {
      var faults: [String] = []
      // Names as the wire has them: without the date that a key has where ids restart.
      var keys: [String: EntryKey] = [:]
      for key in sent { keys[String(key.rawValue.prefix { $0 != "@" })] = key }
      for verdict in all {
        guard let key = keys[verdict.environment + "/" + verdict.transactionID] else {
          faults.append("a verdict about a transaction that was not claimed")
          continue
        }
        if let first = answered[key] {
          if first != verdict { faults.append("contradicting verdicts about \(key)") }
          continue
        }
        answered[key] = verdict
        verdicts.append((key, verdict))
      }
      if answered.count < sent.count {
        faults.append("\(sent.count - answered.count) of \(sent.count) claims were not answered")
      }
      return faults
    }
  }

  private func settle(
    _ key: EntryKey, _ verdict: ClaimVerdict, _ actions: inout [SyncAction]
  ) throws(QueueError) -> SettledClaim {
    var claim = SettledClaim(key: key, verdict: verdict.verdict)
    guard let number = verdict.orderNumber else { return claim }
    switch try storage.binding(by: number, of: key) {
    case .keep: break
    case .bind(let number):
      claim.orderNumber = number
      actions.append(.emit(.matched(key, orderNumber: number)))
    case .contradiction(let reason): actions.append(.emit(.backendFault(reason: "\(key): \(reason)")))
    }
    return claim
  }

  /// An answer that settles nothing: the entry stays, and the lane goes on without it.
  private mutating func keep(
    _ key: EntryKey, _ verdict: ClaimVerdict, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    var watch = try storage.watch(of: key)
    switch verdict.verdict {
    case .rejected:
      watch.answered()
      try storage.keep(retry, [key: watch], now: now)
      return try park(key, "rejected: \(Redaction.line(verdict.reason ?? "without a reason"))", now: now)
    case .unknownTransaction:
      let isLast = watch.wasUnknown(policy: policy)
      try storage.keep(retry, [key: watch], now: now)
      if isLast { return try park(key, "no receipt holds it", now: now) }
      let wait = policy.delayMilliseconds(afterFailures: watch.unknownAnswers + 2, using: &random)
      try postpone(key, by: wait, "unknownTransaction", now: now)
      return [.readReceipt(key)]
    default:
      // `pending`, and words of a newer protocol.
      if watch != PoisonWatch() {
        watch.answered()
        try storage.keep(retry, [key: watch], now: now)
      }
      let asked = verdict.retryAfter.flatMap { RetryAfterField.milliseconds(seconds: $0) }
      let wait = policy.delayMilliseconds(
        afterFailures: 4, retryAfterMilliseconds: asked, using: &random)
      try postpone(key, by: wait, verdict.verdict.rawValue, now: now)
      return []
    }
  }

  private func postpone(
    _ key: EntryKey, by milliseconds: Int64, _ reason: String, now: Timestamp
  ) throws(QueueError) {
    let until = now.adding(milliseconds: max(milliseconds, 1))
    try storage.postpone(key, until: until, reason: reason, now: now)
  }

  /// Claims without a verdict have failed, each by itself.
  private mutating func missed(_ keys: [EntryKey], now: Timestamp) throws(QueueError) {
    guard !keys.isEmpty else { return }
    var watches: [EntryKey: PoisonWatch] = [:]
    for key in keys {
      var watch = try storage.watch(of: key)
      watch.failed(now: now)
      watches[key] = watch
      let wait = policy.delayMilliseconds(afterFailures: watch.failedRounds, using: &random)
      try postpone(key, by: wait, "not answered", now: now)
    }
    try keepRetry(watches, now: now)
  }

  /// To quarantine; set aside for as long if that is full.
  mutating func park(
    _ key: EntryKey, _ reason: String, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    if try storage.quarantine(key, reason: reason, now: now) {
      return [.emit(.quarantined(key, reason: reason)), .wake(at: quarantineDue(now))] + roomIsFree()
    }
    let until = now.adding(milliseconds: policy.quarantineRetryMilliseconds)
    try storage.postpone(key, until: until, reason: reason, now: now)
    return [.emit(.setAside(key, reason: reason, until: until))]
  }
}

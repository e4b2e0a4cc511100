import PurchaseQueue

/// Sending a lane's head, with the run behind it that has the same proof.
extension SyncMachine {
  mutating func sendAll(now: Timestamp) -> [SyncAction] {
    attempt { (machine) throws(QueueError) in
      var actions: [SyncAction] = []
      for lane in try machine.storage.lanes() { machine.sendNext(lane, into: &actions, now: now) }
      return actions
    }
  }

  mutating func sendNext(_ lane: Lane, now: Timestamp) -> [SyncAction] {
    var actions: [SyncAction] = []
    sendNext(lane, into: &actions, now: now)
    return actions
  }

  mutating func sendNext(_ lane: Lane, into actions: inout [SyncAction], now: Timestamp) {
    sendNext(lane, lanes[lane], into: &actions, now: now)
  }

  /// For whoever has just looked at the lane.
  mutating func sendNext(
    _ lane: Lane, _ known: LaneState?, into actions: inout [SyncAction], now: Timestamp
  ) {
    do throws(QueueError) {
      try send(lane, known, into: &actions, now: now)
    } catch {
      actions.append(.storageFailed(error))
    }
  }

  /// Throws before anything is out.
  private mutating func send(
    _ lane: Lane, _ known: LaneState?, into actions: inout [SyncAction], now: Timestamp
  ) throws(QueueError) {
    guard !isParked else { return }
    var state = known ?? LaneState()
    switch state.activity {
    case .sending, .signInNeeded: return
    case .idle: break
    }
    let ready = try storage.readyEntries(
      in: lane, now: now, limit: Self.claimsPerUpload, dueFirst: state.isDueNext)
    guard let head = ready.first else {
      if known == nil { lanes[lane] = state }
      if let next = try storage.nextReadyAt(in: lane) {
        let due = soonest(next, now)
        // Another process of this installation had another clock.
        if due < next { try storage.clampPostponed(to: due, now: now) }
        actions.append(.wake(at: due))
      }
      return
    }
    try readRetry()
    var admitted = retry
    switch admitted.admit(state.backoff, for: state.purpose, now: now, policy: policy) {
    case .wait(let until):
      if known == nil { lanes[lane] = state }
      return actions.append(.wake(at: soonest(until, now)))
    case .send: break
    }
    let run = try run(headedBy: head, ready)
    let keys = run.map(\.key)
    let isNew = admitted.isWorthKeeping(since: keptRetry)
    try storage.recordAttempt(keys, keeping: isNew ? admitted : nil, now: now)
    retry = admitted
    if isNew { keptRetry = admitted }
    state.purpose = .retry
    state.hasSignedIn = false
    state.isDueNext = head.readyAt.milliseconds == 0
    state.activity = .sending(run)
    lanes[lane] = state
    actions.append(.emit(.uploading(keys)))
    actions.append(.send(lane: lane, entries: run))
  }

  /// What another process of this installation has spent, and what it was asked for, counts too: the file knows, since
  /// both are committed before the next request. To be called before anything is decided or changed.
  mutating func readRetry() throws(QueueError) {
    let stored = try storage.retryState()
    guard stored != keptRetry else { return }
    // What is over here (`forgetWaits`) stands in the file as long as nobody here has written it.
    let over = retry.pace.notBefore == nil ? keptRetry.pace.notBefore : nil
    retry.budget = stored.budget
    retry.pace.heard(stored.pace)
    if let over, stored.pace.notBefore == over { retry.pace.forget(overBy: over) }
    keptRetry = stored
  }

  /// The same where an answer is there: it counts, and so does what it asked for, also if the file cannot be read now.
  mutating func hearRetry() -> [SyncAction] {
    attempt { (machine) throws(QueueError) in
      try machine.readRetry()
      return []
    }
  }

  /// The head and those behind it that have the same proof; alone, if it has failed in company. Two that have one name
  /// on the wire go one after the other: a verdict could be about either.
  private func run(headedBy head: Entry, _ ready: [Entry]) throws(QueueError) -> [Entry] {
    if ready.count == 1 { return ready }
    if try goesAlone(head) { return [head] }
    // Of proofs that are not here nobody knows whether they are the same: their references are equal by their size.
    if !head.proofs.isEmpty, head.proofs.allSatisfy(\.isByReference) { return [head] }
    var run = [head]
    for entry in ready.dropFirst() {
      guard entry.proofs == head.proofs, try !goesAlone(entry) else { break }
      if entry.key.hasDate, run.contains(where: { $0.key.hasSameWireName(as: entry.key) }) { break }
      run.append(entry)
    }
    return run
  }

  private func goesAlone(_ entry: Entry) throws(QueueError) -> Bool {
    guard entry.attempts > 0 else { return false }
    return try storage.watch(of: entry.key).goesAlone(policy: policy)
  }

  /// What the lane has out, as it was then, at the moment of its answer. An answer to nothing is no driver's.
  mutating func sent(in lane: Lane) -> [Entry] {
    guard case .sending(let sent)? = lanes[lane]?.activity else {
      preconditionFailure("an answer for lane \(lane.text), which has nothing out")
    }
    if !askedToWait.isEmpty { askedToWait.subtract(sent.map(\.key)) }
    return sent
  }

  mutating func keepRetry(_ watches: [EntryKey: PoisonWatch] = [:], now: Timestamp) throws(QueueError) {
    guard !watches.isEmpty || retry.isWorthKeeping(since: keptRetry) else { return }
    try storage.keep(retry, watches, now: now)
    keptRetry = retry
  }
}

extension RetryState {
  /// Whether it has to be committed before the next request: all but when something last worked, which only spares a
  /// poison entry its parking.
  func isWorthKeeping(since kept: RetryState) -> Bool {
    budget != kept.budget || pace.notBefore != kept.pace.notBefore || pace.isFailing != kept.pace.isFailing
      || pace.pacedSendsLeft != kept.pace.pacedSendsLeft || pace.pacedAt != kept.pace.pacedAt
  }
}

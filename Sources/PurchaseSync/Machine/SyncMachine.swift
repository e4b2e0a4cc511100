package import PurchaseQueue

/// Every decision of the engine. Deterministic: the same storage, seed and events give the same actions. Each event is a
/// function that takes the time and returns what the driver has to do (`SyncAction`).
///
/// The life of an entry. All states are stored, except that an entry is in flight:
///
/// ```
///                transactionArrived                 send                   a settling verdict
///   (the store) ───────────────────▶ queued ─────────────────▶ in flight ────────────────────▶ settled
///                                    ▲ ▲ ▲                       │ │ │                           │ tombstone: finish
///                                    │ │ └─ failed, pending ─────┘ │ │                           │ pending, unconfirmed
///                  its moment comes, │ │                           │ │              finishEnded  ├────▶ finished
///                  or a new proof    │ │ trial or new proof        │ │         outcomeConfirmed  └────▶ seen
///                                    │ │                           │ │
///                            postponed └── quarantined ◀───────────┘ │ rejected, unknown too often,
///                                    ▲                               │ or it fails while others succeed
///                                    └── Retry-After, blocks others ─┘
///
///   queued, postponed, quarantined ── discard (by the app) ──▶ settled without a verdict
///   settled ── the store delivers an update ──▶ queued next to the tombstone, or pending while there is no capacity
/// ```
///
/// Small machines make the decisions, and know nothing of each other: `LaneState`, `Adoption`, `Finishing`,
/// `QuarantineTrial`, `PendingUpdates`, `StoreOverflow`, `RetryLedger` and `MachineClock`. This one routes events to them
/// and merges their actions. Its extensions in other files reach lanes, store and adoptions directly, the other small
/// machines by the functions at the end of this file, and the storage by one role at a time.
///
/// A storage error leaves the stored state as it was. It is thrown if the event has done nothing yet. Afterwards it is
/// an action (`storageFailed`), so that no decision before it is lost. An event that no driver may send (an answer to
/// nothing, a second start) is a programming error and traps.
package struct SyncMachine<Storage: SyncStorage> {
  private let storage: Storage
  private var delays: Delays
  private var clock = MachineClock()
  /// Milliseconds of a clock that is never set: the driver says them before each event.
  package var uptime: Int64 = 0
  private(set) var isSuspended = false
  var lanes = LaneTable()
  private var retry = RetryLedger()
  var quarantine: QuarantineTrial
  private var updates = PendingUpdates()
  var adoptions = AdoptionTable()
  var storeSide = StoreSide()

  package init(storage: Storage, policy: RetryPolicy, appVersion: String = "", seed: UInt64) {
    self.storage = storage
    delays = Delays(policy, seed: seed)
    quarantine = QuarantineTrial(appVersion: appVersion)
  }

  package var policy: RetryPolicy { delays.policy }

  // MARK: Start, time, background

  /// The engine starts: takes up everything that an earlier run left undone.
  package mutating func started(now: Timestamp) throws(QueueError) -> [SyncAction] {
    precondition(!clock.isRunning, "a machine starts once")
    try retry.load(from: storage)
    updates.start(epoch: try storage.ledgerEpoch())
    let unconfirmed = try storage.tombstonesWithDuties().filter(\.isUnconfirmed)
    let actions: [SyncAction] = unconfirmed.map { .emit(SyncEvent(publishing: Outcome($0))) }
    try adoptions.start(from: storage)
    try retry.boundWaits(in: storage, now: now, policy: policy)
    try lanes.start(from: storage, isFailing: retry.state.pace.isFailing, now: now, &delays)
    clock.start(at: now, uptime: uptime)
    return actions + proceed(now: now)
  }

  /// Time passed, at least until the moment that was asked for.
  package mutating func timerFired(now: Timestamp) -> [SyncAction] {
    advance(to: now)
    return proceed(now: now)
  }

  /// Something ends the waits of lanes, entries, finishes and adoptions: within the budget, and never before the backend's
  /// Retry-After. A person who asks also has the quarantine tried.
  package mutating func woken(_ reason: WakeReason, now: Timestamp) -> [SyncAction] {
    advance(to: now)
    if reason == .foreground {
      isSuspended = false
      clock.mayHaveJumped()
    }
    var actions: [SyncAction] = []
    if reason == .userAsked, !isSuspended {
      actions += .attempting { () throws(QueueError) in
        try quarantine.asked(in: storage, now: now, policy: policy)
      }
    }
    actions += .attempting { () throws(QueueError) in
      try lanes.woken(reason, in: storage, now: now, &delays)
      return []
    }
    adoptions.woken(reason, now: now, &delays)
    storeSide.finishes.woken(now: now, policy: policy)
    quarantine.woken()
    return actions + proceed(now: now)
  }

  /// The app goes to the background: nothing is sent until it is back. Requests in flight may still be answered.
  package mutating func suspended() { isSuspended = true }

  /// Looks at everything that may be due now.
  private mutating func proceed(now: Timestamp) -> [SyncAction] {
    guard !isSuspended else { return [] }
    var actions: [SyncAction] = []
    if clock.needsClamping { actions += clampMoments(now: now) }
    actions += .attempting { () throws(QueueError) in
      try quarantine.proceed(
        in: storage, isStoreHoldingMore: isStoreHoldingMore, now: now, policy: policy)
    }
    actions += queuePendingUpdates(now: now)
    actions += sendAll(now: now)
    actions += storeSide.finishes.goOn(in: storage, now: now, policy: policy)
    return actions + sendAdoptions(now: now) + waitForOverflow(now: now) + askForOverflow()
  }

  /// An event comes. After the clock went back, what is left of each wait stays as long as it was.
  mutating func advance(to now: Timestamp) {
    precondition(clock.isRunning, "an event came before the machine started")
    guard let jump = clock.advance(to: now, uptime: uptime) else { return }
    lanes.follow(jump)
    adoptions.follow(jump)
    storeSide.follow(jump)
    retry.follow(jump)
    do throws(QueueError) { try retry.moveWaits(jump, in: storage, policy: policy) } catch {
      clock.mayHaveJumped()  // Those of entries begin once more then.
    }
  }

  private mutating func clampMoments(now: Timestamp) -> [SyncAction] {
    lanes.clamp(now: now)
    adoptions.clamp(now: now)
    storeSide.finishes.clamp(now: now)
    return .attempting { () throws(QueueError) in
      try retry.boundWaits(in: storage, now: now, policy: policy)
      try QuarantineTrial.clamp(in: storage, now: now, policy: policy)
      clock.clamped()
      return []
    }
  }

  // MARK: Uploads

  /// A request is prepared and its lane leased. Commits the attempt and its cost, unless the request may not go out now.
  /// If it throws, nothing is recorded, and the lane is free again.
  package mutating func attemptBegins(lane: Lane, now: Timestamp) throws(QueueError) -> AttemptStart {
    advance(to: now)
    let begins = try lanes[lane].beginAttempt(
      of: lane, in: storage, &retry, isSuspended: isSuspended, now: now, policy: policy)
    return begins ? .send([.emit(.uploading(lanes[lane].sent.map(\.key)))]) : .hold(sendNext(lane, now: now))
  }

  /// The backend answered with verdicts. Entries whose verdict cannot be stored are sent again, but not before the
  /// backend's Retry-After. `account`: whose credential came with an upload of the device lane.
  package mutating func replyArrived(
    lane: Lane, _ reply: UploadReply, presented account: String? = nil, now: Timestamp
  ) -> [SyncAction] {
    forgetReplacedQuestions(in: lane)
    let request = lanes[lane].answeredRequest
    precondition(request.hasBegun, "a reply to a request that has not begun")
    let answer = UploadAnswer(to: request.entries, reply.verdicts, presented: account)
    advance(to: now)
    var actions = retry.refresh(from: storage)
    let freesOthers = backendWorked(for: lane, now: now)
    if let pause = reply.pauseMilliseconds { retry.paused(milliseconds: pause, now: now, &delays) }
    var backoff = LaneBackoff()
    // Each claim adds a finish and an outcome, and the next upload may follow.
    actions.reserveCapacity(2 * answer.sent.count + 3)
    for fault in answer.faults { actions.append(.emit(.backendFault(reason: fault))) }
    var hasSettled = false
    do throws(QueueError) {
      // Before settling: transactions that are settled under an unknown epoch would not be offered again.
      actions += try updates.epochArrived(reply.ledgerEpoch, in: storage, now: now)
      hasSettled = try settle(answer, request, arrived: lanes[lane].arrivedInFlight, &actions, now: now)
      // And after: another process may have received a new epoch in between, and offered what was settled by then.
      if hasSettled { actions += try updates.epochArrived(reply.ledgerEpoch, in: storage, now: now) }
      try keepUnsettled(of: answer, request, in: lane, &actions, now: now)
      if reply.pauseMilliseconds != nil { try retry.commit(in: storage, now: now) }
    } catch {
      backoff.failed(
        retryAfterMilliseconds: answer.longestWait, now: now, policy: policy, using: &delays.random)
      actions.append(.storageFailed(error))
    }
    // Mark the lane idle last. Freeing capacity rescans all lanes and would resend entries that are not postponed yet.
    lanes[lane].ended(backoff)
    retry.ended(lane, isAtFault: false)
    if hasSettled || updates.mayBePending { actions += useFreedCapacity(now: now) }
    if lane == .device, !adoptions.isEmpty { actions += sendAdoptions(now: now) }
    actions += wakeAgain(request, in: lane, now: now) + sendNext(lane, now: now)
    if freesOthers { actions += sendAll(now: now) }
    actions += askForOverflow(unlessSending: lane)
    return actions
  }

  /// The backend did what a request asked for: an upload of this lane, or an adoption. True if lanes that wait can go on.
  private mutating func backendWorked(for lane: Lane? = nil, now: Timestamp) -> Bool {
    if retry.state.pace.isFailing { lanes.reached(excluding: lane, now: now, &delays) }
    return retry.succeeded(isUpload: lane != nil, now: now, policy: policy)
  }

  /// No verdicts came. No failure is final. Its effect is committed before the next request.
  package mutating func uploadFailed(
    lane: Lane, _ failure: UploadFailure, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    forgetReplacedQuestions(in: lane)
    let request = lanes[lane].answeredRequest
    lanes[lane].stopped()
    advance(to: now)
    var actions = retry.refresh(from: storage)
    lanes[lane].failed(failure.inLane(lane), request, &retry, now: now, &delays)
    retry.ended(lane, isAtFault: failure.inLane(lane).blame != .nothing)
    actions += try failed(failure.inLane(lane), request, in: lane, now: now)
    return actions + wakeAgain(request, in: lane, now: now) + askForOverflow()
  }

  // MARK: The store, the app, adoptions

  /// A call of the store's finish ended.
  package mutating func finishEnded(
    _ key: EntryKey, _ end: FinishEnd, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    advance(to: now)
    let actions = try storeSide.finishes.ended(key, end, in: storage, now: now, &delays)
    return end == .finished ? actions + dutyEnded(now: now) : actions
  }

  /// The store delivered its whole list, and every transaction of it has arrived.
  package mutating func storeListed(
    _ keys: Set<EntryKey>, account: String?, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    advance(to: now)
    storeSide.account = account
    storeSide.overflow.listed()
    let (actions, ended) = try storeSide.finishes.listed(keys, account: account, in: storage, now: now)
    // Transactions that the store keeps come before entries that have been tried.
    guard isStoreHoldingMore else { return actions + goOnWithQuarantine(now: now) }
    storeSide.overflow.waitForCapacity(now: now, policy: policy)
    return actions + waitForOverflow(now: now) + (ended > 0 ? dutyEnded(now: now) : [])
  }

  /// The app discarded the entry. A pending answer does not apply to it any more.
  package mutating func discarded(_ key: EntryKey) {
    precondition(clock.isRunning, "an event came before the machine started")
    lanes.discarded(key)
  }

  /// A request that adopts the device's purchases ended.
  package mutating func adoptionEnded(
    account: String, _ end: AdoptionEnd, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    advance(to: now)
    var actions = retry.refresh(from: storage)
    switch end {
    case .taken:
      let goesOn = try adoptions.taken(by: account, in: storage)
      let freesLanes = backendWorked(now: now)
      if goesOn { actions += sendAdoptions(now: now) }
      return freesLanes ? actions + sendAll(now: now) : actions
    case .failed(let failure):
      let goesOn = try adoptions.failed(account, failure, storage, &retry, &actions, now: now, &delays)
      return goesOn ? actions + sendAdoptions(now: now) : actions
    }
  }

  /// A request without entries is prepared. Whether the backend has asked for a pause since it was decided, this process or
  /// another one of this installation.
  package mutating func isPaused(now: Timestamp) throws(QueueError) -> Bool {
    advance(to: now)
    try retry.read(from: storage)
    return retry.state.pace.asked.map { $0.opensAt(now: now) > now } ?? false
  }

  mutating func sendAdoptions(now: Timestamp) -> [SyncAction] {
    isSuspended ? [] : adoptions.sendDue(from: storage, &retry, after: lanes, now: now, policy: policy)
  }
}

// MARK: - Capacity

extension SyncMachine {
  /// Leaves asking the store to the end of the event.
  mutating func useFreedCapacity(now: Timestamp) -> [SyncAction] {
    var actions = queuePendingUpdates(now: now)
    if !storeSide.overflow.freed() { actions += goOnWithQuarantine(now: now) }
    return actions
  }

  /// A trial that had no capacity for all of its entries goes on.
  private mutating func goOnWithQuarantine(now: Timestamp) -> [SyncAction] {
    guard !quarantine.remaining.isEmpty else { return [] }
    return .attempting { () throws(QueueError) in
      try quarantine.releaseRemaining(in: storage, now: now, policy: policy) + sendAll(now: now)
    }
  }

  private mutating func queuePendingUpdates(now: Timestamp) -> [SyncAction] {
    guard updates.mayBePending else { return [] }
    return .attempting { () throws(QueueError) in
      let (queued, retryAt) = try updates.queue(in: storage, now: now, policy: policy)
      let waiting: [SyncAction] = retryAt.map { [.wake(at: $0)] } ?? []
      guard !queued.isEmpty else { return waiting }
      return queued.map { .emit(.updateQueued($0)) } + sendAll(now: now) + waiting
    }
  }

  /// An update was recorded as pending, for lack of capacity. It is tried again at the returned moment.
  mutating func hasPendingUpdate(now: Timestamp) -> SyncAction {
    updates.recorded()
    return .wake(at: PendingUpdates.retryAt(now: now, policy: policy))
  }
}

// MARK: - For the extensions in other files

extension SyncMachine {
  var transactionStorage: some TransactionStorage { storage }
  var laneStorage: some LaneStorage { storage }
  var attemptStorage: some AttemptStorage { storage }
  var settlementStorage: some SettlementStorage { storage }
  var pendingUpdateStorage: some PendingUpdateStorage { storage }
  var adoptionStorage: some AdoptionStorage { storage }

  /// The store account of the last listing.
  var storeAccount: String? { storeSide.account }

  func state(of lane: Lane) -> LaneState { lanes[lane] }

  /// The backend and the budget as this process knows them.
  var retryState: RetryState { retry.state }

  package func status(of lane: Lane, reason: String?, now: Timestamp) throws(QueueError) -> LaneStatus.State {
    try lanes[lane].status(
      of: lane, in: storage, retry, isSuspended: isSuspended, reason: reason, now: now, policy: policy)
  }

  /// An account's adoption of the device's purchases; nil if none is pending.
  func adoption(of account: String) -> Adoption? { adoptions.state(of: account) }

  mutating func sendNext(_ lane: Lane, into actions: inout [SyncAction], now: Timestamp) {
    guard !isSuspended, !lanes.isHeld(lane) else { return }
    do throws(QueueError) {
      try lanes[lane].sendNext(lane, from: storage, &retry, now: now, policy: policy, into: &actions)
    } catch {
      actions.append(.storageFailed(error))
    }
  }

  private mutating func sendAll(now: Timestamp) -> [SyncAction] {
    .attempting { () throws(QueueError) in
      var actions: [SyncAction] = []
      for lane in try retry.turns(of: storage.lanes(), in: storage, now: now, policy: policy) {
        sendNext(lane, into: &actions, now: now)
      }
      return actions
    }
  }

  /// An event of one lane.
  mutating func update(_ lane: Lane, _ event: (inout LaneState, inout Delays) -> Void) {
    event(&lanes[lane], &delays)
  }

  mutating func commitRetry(_ watches: [EntryKey: PoisonWatch], now: Timestamp) throws(QueueError) {
    try retry.commit(watches, in: storage, now: now)
  }

  /// Draws a delay.
  mutating func draw<R>(_ body: (inout Delays) -> R) -> R { body(&delays) }

  mutating func forgetProofReleases(of key: EntryKey) { quarantine.settled(key) }

  /// Moves an entry to quarantine, or postpones it for as long if the quarantine is full. `asked`: when the backend wants
  /// it again at the earliest.
  mutating func moveToQuarantine(
    _ key: EntryKey, _ reason: String, asked: Timestamp? = nil, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    switch try quarantine.place(key, reason, asked: asked, in: storage, now: now, policy: policy) {
    case .quarantined(let actions): return actions + capacityFreed(now: now)
    case .postponed(let until): return [.emit(.postponed(key, reason: reason, until: until))]
    }
  }

  /// A quarantined entry got a new proof. False if there is no capacity to release it.
  mutating func releaseProven(_ key: EntryKey, in lane: Lane, now: Timestamp) throws(QueueError) -> Bool {
    try quarantine.newProof(of: key, in: storage, now: now, &delays) == .released
  }
}

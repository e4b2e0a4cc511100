import PurchaseQueue

/// The retry state of the installation: as this process knows it, and as the file holds it.
///
/// ```
///                 failed, succeeded, spend                  commit, recordAttempt
///   as committed ──────────────────────────▶ changed here ────────────────────────▶ as committed
///        ▲                                                                               │
///        └──────────── read: another process has committed a newer state ────────────────┘
/// ```
///
/// The effect of a failure is committed before the next request, so that a kill shortens no wait and refills no budget.
struct RetryLedger: Hashable {
  private(set) var state = RetryState()
  /// The state of the file when it was last read or written.
  private var committed = RetryState()
  /// `movedBack` and `restarts` of the state, as far as this process has followed them.
  private var followedMoves: Int64 = 0
  private var followedRestarts = 0
  /// Of all lanes: each entry whose verdict is not final has a moment of its own, and there may be hundreds.
  private var repeats = CallPace.repeatedUploads
  /// Lanes at whose last request the backend failed, in the order of these failures.
  private var failed: [Lane] = []

  /// Whether a request may go out.
  enum Admission: Hashable {
    /// Now. The state includes what the request costs; it takes effect with `recordAttempt` or `spend`.
    case send(RetryState)
    case wait(until: Timestamp)
  }

  mutating func load(from storage: some AttemptStorage) throws(QueueError) {
    state = try storage.retryState()
    (committed, followedMoves, followedRestarts) = (state, state.movedBack, state.restarts)
  }

  /// Takes over what another process of this installation has spent and was asked to wait for. To be called before a
  /// decision and before a change.
  mutating func read(from storage: some AttemptStorage) throws(QueueError) {
    let stored = try storage.retryState()
    take(stored, of: stored)
  }

  /// `shown`: the stored state, moved by the jump that this process has just seen.
  private mutating func take(_ shown: RetryState, of stored: RetryState) {
    guard stored != committed else {
      // What this process knows of the backend is newer.
      if shown != stored { state.budget = shown.budget }
      return
    }
    // The file may still hold a Retry-After that is over for this process.
    let isOver = state.pace.asked == nil && committed.pace.asked == stored.pace.asked
    (state.budget, state.movedBack, state.restarts) = (shown.budget, shown.movedBack, shown.restarts)
    state.pace.merge(shown.pace)
    if isOver { state.pace.endAskedWait() }
    committed = stored
  }

  /// Reads as `read` does when an answer has arrived: the answer counts even if the file cannot be read now.
  mutating func refresh(from storage: some AttemptStorage) -> [SyncAction] {
    .attempting { () throws(QueueError) in
      try read(from: storage)
      return []
    }
  }

  /// Decides about a request without changing anything. `isRepeat`: it begins with an entry that was sent or postponed before.
  func admission(
    of lane: LaneBackoff, for purpose: RetryBudget.Purpose, isRepeat: Bool = false, now: Timestamp,
    policy: RetryPolicy
  ) -> Admission {
    var admitted = state
    switch admitted.admit(lane, for: purpose, now: now, policy: policy) {
    case .wait(let until): return .wait(until: until)
    case .send:
      guard isRepeat, isFree(lane, for: purpose) else { return .send(admitted) }
      let wait = repeats.wait(at: now.milliseconds)
      return wait > 0 ? .wait(until: now.adding(milliseconds: wait)) : .send(admitted)
    }
  }

  /// A request that was admitted is prepared.
  mutating func reserved(
    by lane: LaneBackoff, for purpose: RetryBudget.Purpose, isRepeat: Bool, now: Timestamp
  ) {
    if isRepeat, isFree(lane, for: purpose) { _ = repeats.takes(at: now.milliseconds) }
  }

  /// Whether a request costs none of the budget, and no pace of the backend limits it. A person's has no other limit.
  private func isFree(_ lane: LaneBackoff, for purpose: RetryBudget.Purpose) -> Bool {
    purpose == .retry && lane.failures == 0 && !lane.isEarly && !state.pace.isPaced
  }

  /// The lanes in the order in which they may send. Where all of them wait for the pace or the budget, one whose next entry
  /// fails by itself, or was sent before, comes after the others: it would take their request, and fail. After these come
  /// the lanes at whose last request the backend failed, in turns: a lane with several such entries fails many times, and
  /// its next entry is a fresh one each time.
  func turns(
    of lanes: [Lane], in storage: some LaneStorage & AttemptStorage, now: Timestamp, policy: RetryPolicy
  ) throws(QueueError) -> [Lane] {
    guard lanes.count > 1, state.pace.isPaced || state.budget.spent(now: now, policy: policy) > 0 else {
      return lanes
    }
    var failures: [Lane: (rounds: Int, wasSent: Int)] = [:]
    for lane in lanes {
      guard let head = try storage.readyEntries(in: lane, now: now, limit: 1).first else { continue }
      failures[lane] = (try storage.watch(of: head.key).failedRounds, head.attempts > 0 ? 1 : 0)
    }
    // In the order of the storage where there is no difference.
    let others = lanes.filter { !failed.contains($0) }.enumerated().map { offset, lane in
      (failures[lane]?.rounds ?? 0, failures[lane]?.wasSent ?? 0, offset, lane)
    }
    return others.sorted { ($0.0, $0.1, $0.2) < ($1.0, $1.1, $1.2) }.map(\.3) + failed.filter(lanes.contains)
  }

  /// A request of the lane has ended. `isAtFault`: the backend failed at it, and answers others.
  mutating func ended(_ lane: Lane, isAtFault: Bool) {
    failed.removeAll { $0 == lane }
    if isAtFault { failed.append(lane) }
  }

  /// Commits an attempt of the entries together with what it costs.
  mutating func recordAttempt(
    of keys: [EntryKey], _ admitted: RetryState, in storage: some AttemptStorage, now: Timestamp
  ) throws(QueueError) {
    let isChanged = admitted.isWorthKeeping(since: committed)
    try storage.recordAttempt(keys, keeping: isChanged ? admitted : nil, now: now)
    state = admitted
    if isChanged { committed = admitted }
  }

  /// Takes what a request without entries costs, and commits it.
  mutating func spend(
    _ admitted: RetryState, in storage: some AttemptStorage, now: Timestamp
  ) throws(QueueError) {
    state = admitted
    try commit(in: storage, now: now)
  }

  /// A request brought no verdicts: updates the pace of all lanes and the backoff of the one that sent it.
  mutating func failed(
    _ failure: UploadFailure, _ backoff: inout LaneBackoff, now: Timestamp, _ delays: inout Delays
  ) {
    switch failure {
    case .retry(_, let asked):
      state.pace.failed(now: now, policy: delays.policy, using: &delays.random)
      backoff.failed(
        retryAfterMilliseconds: asked, now: now, policy: delays.policy, using: &delays.random)
    case .requestFailed(_, let asked):
      state.pace.failed(isAboutRequest: true, now: now, policy: delays.policy, using: &delays.random)
      backoff.failed(
        retryAfterMilliseconds: asked, now: now, policy: delays.policy, using: &delays.random)
    case .backendBusy(_, let asked):
      state.pace.failed(
        retryAfterMilliseconds: asked, now: now, policy: delays.policy, using: &delays.random)
      backoff.failed(now: now, policy: delays.policy, using: &delays.random)
    // The backend is well. A release that was wrong, or a replica that lags, takes it at one of the next tries.
    case .backendFault: backoff.failed(now: now, policy: delays.policy, using: &delays.random)
    case .otherProtocol: backoff.refused(now: now, policy: delays.policy, using: &delays.random)
    case .laneTaken, .unprepared, .accountRefused:
      backoff.notSent(now: now, policy: delays.policy, using: &delays.random)
    case .signInNeeded, .tokenRefused, .proofMissing, .unreadable, .interrupted: break
    }
  }

  /// The backend did what a request asked for. Returns whether lanes that wait can go on. They can if an outage is over,
  /// and if the budget was used up before.
  @discardableResult mutating func succeeded(
    isUpload: Bool = true, now: Timestamp, policy: RetryPolicy
  ) -> Bool {
    let (wasFailing, wasRecovering) = (state.pace.isFailing, state.pace.isRecovering)
    state.succeeded(isUpload: isUpload, now: now, policy: policy)
    return wasFailing || !wasRecovering && state.pace.isRecovering
  }

  /// Verdicts came, and the backend asks for a pause. It takes effect with `commit`.
  mutating func paused(milliseconds: Int64, now: Timestamp, _ delays: inout Delays) {
    state.pace.paused(milliseconds: milliseconds, now: now, policy: delays.policy, using: &delays.random)
  }

  /// Commits the state, if it changed, and the records of entries that failed.
  mutating func commit(
    _ watches: [EntryKey: PoisonWatch] = [:], in storage: some AttemptStorage, now: Timestamp
  ) throws(QueueError) {
    guard !watches.isEmpty || state.isWorthKeeping(since: committed) else { return }
    try storage.keep(state, watches, now: now)
    committed = state
  }

  /// The clock went back: what this process knows follows. `moveWaits` does the same with the file.
  mutating func follow(_ jump: ClockJump) {
    state.pace.follow(jump)
    repeats.follow(jump)
  }

  /// The clock went back: the stored state and the waits of entries follow, once for all processes of the installation.
  /// Another one may have noticed this jump before, or one of several that this process sees as one, and have moved them.
  /// Or it has started between two jumps: what began again then is of a clock that this process has not seen. Nothing is
  /// moved then, and nothing lasts longer than its own length again.
  mutating func moveWaits(
    _ jump: ClockJump, in storage: some LaneStorage & AttemptStorage, policy: RetryPolicy
  ) throws(QueueError) {
    let stored = try storage.retryState()
    let left = jump.distance - (stored.movedBack - followedMoves)
    let rest = ClockJump(
      from: jump.to.adding(milliseconds: left), to: jump.to, unseen: jump.unseen)
    let isToMove = left >= MachineClock.leastJump
    let isOfOneClock = followedRestarts == stored.restarts
    var shown = stored
    // Another process may have stored it after the jump.
    if isToMove, isOfOneClock { shown.follow(rest, isShared: stored != committed, policy: policy) }
    take(shown, of: stored)
    guard isToMove else { return followedMoves = stored.movedBack }
    state.movedBack = stored.movedBack + left
    guard isOfOneClock else { return try boundWaits(in: storage, now: jump.to, policy: policy) }
    // In one commit: after a kill in between, a wait that was over would begin again.
    do throws(QueueError) { try storage.moveWaits(rest, keeping: state) } catch {
      // Nothing is moved: the next jump must not be taken for a part of this one.
      state.movedBack = stored.movedBack
      throw error
    }
    (committed, followedMoves) = (state, state.movedBack)
  }

  /// The clock may have jumped: what began later than now begins again, in the file, too.
  mutating func boundWaits(
    in storage: some LaneStorage & AttemptStorage, now: Timestamp, policy: RetryPolicy
  ) throws(QueueError) {
    try read(from: storage)
    let asRead = state
    state.pace.clamp(now: now)
    state.budget.clamp(now: now, policy: policy)
    // Another process that sees the jump later must not move what begins again.
    if try storage.isAnyWaitAhead(of: now) || state != asRead { state.restarts += 1 }
    if state.isWorthKeeping(since: committed) {
      try storage.boundWaits(now: now, keeping: state)
      committed = state
    }
    // A move that could not be committed is none: what it was for has begun again.
    (followedMoves, followedRestarts) = (state.movedBack, state.restarts)
  }
}

extension RetryState {
  /// Whether the difference has to be committed before the next request. The moment of the last success alone does
  /// not: it only delays the quarantine of an entry that fails by itself.
  func isWorthKeeping(since kept: RetryState) -> Bool {
    budget != kept.budget || pace.asked != kept.pace.asked || pace.isFailing != kept.pace.isFailing
      || pace.pacedSendsLeft != kept.pace.pacedSendsLeft || pace.pacedAt != kept.pace.pacedAt
      || movedBack != kept.movedBack || restarts != kept.restarts
  }
}

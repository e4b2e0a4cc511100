import PurchaseQueue

/// The quarantine: entries that are tried daily, after an update of the app, when a person asks, and when a new proof of
/// them comes.
///
/// ```
///        a day is over, another version, or a person asks     all released
///   at rest ───────────────────────────────────▶ releasing ───────────────▶ at rest
///                                                 ▲  │ no capacity: goes on when some is freed
///                                                 └──┘ the backend asked to wait: goes on then
/// ```
///
/// A trial releases each entry at most once. Entries without capacity follow when capacity is freed, and entries with a
/// Retry-After when it is over: in their lanes they would take the capacity of purchases until then. The moment of the
/// last trial is stored (`TrialRecord`); the entries that this trial has left are not.
struct QuarantineTrial: Hashable {
  /// The version of this app. Another one than that of the last trial begins a trial.
  let appVersion: String
  /// Entries that this trial, or a new proof, has yet to release.
  private(set) var remaining: [EntryKey] = []
  /// When the first of them may be released, if the backend asked for a pause.
  private(set) var waitsUntil: Timestamp?
  /// How often a new proof released an entry since the last wake, or the last release at once.
  private(set) var proofReleases: [EntryKey: Int] = [:]
  /// When a new proof releases an entry at once.
  private var releasePaces: [EntryKey: CallPace] = [:]
  /// New proofs of entries that wait for one in their lanes.
  private var proofPaces: [EntryKey: CallPace] = [:]

  init(appVersion: String) { self.appVersion = appVersion }

  // MARK: The daily trial

  /// Begins a trial, if one is due, or goes on with the present one. `isStoreHoldingMore`: transactions that the store
  /// keeps come before entries that have been tried.
  mutating func proceed(
    in storage: some QuarantineStorage, isStoreHoldingMore: Bool, now: Timestamp, policy: RetryPolicy
  ) throws(QueueError) -> [SyncAction] {
    guard try storage.hasQuarantined() else { return [] }
    let last = try storage.quarantineTrial()
    if let last, last.appVersion == appVersion {
      // Another process of this installation had another clock.
      if last.at > now { try storage.keep(record(after: last, now: now)) }
      let due = policy.bounded(last.at.adding(milliseconds: policy.quarantineRetryMilliseconds), after: now)
      guard due <= now else {
        let waiting = try goOnAfterWait(in: storage, isStoreHoldingMore, now: now, policy: policy)
        return [.wake(at: due)] + waiting
      }
    }
    // Without a record the first entry was quarantined just now. Its day begins.
    return try begin(after: last, isReleasing: last != nil, in: storage, now: now, policy: policy)
  }

  /// A person asks: a trial begins now. What makes the backend take an entry may have been done a minute ago.
  mutating func asked(
    in storage: some QuarantineStorage, now: Timestamp, policy: RetryPolicy
  ) throws(QueueError) -> [SyncAction] {
    guard try storage.hasQuarantined() else { return [] }
    let last = try storage.quarantineTrial()
    return try begin(after: last, isReleasing: true, in: storage, now: now, policy: policy)
  }

  private mutating func begin(
    after last: TrialRecord?, isReleasing: Bool, in storage: some QuarantineStorage, now: Timestamp,
    policy: RetryPolicy
  ) throws(QueueError) -> [SyncAction] {
    let keys = try storage.quarantined()
    // Damaged entries are counted by `hasQuarantined`, and cannot be tried.
    guard !keys.isEmpty else { return [] }
    try storage.keep(record(after: last, now: now))
    let next = SyncAction.wake(at: Self.nextTrial(now: now, policy: policy))
    guard isReleasing else { return [next] }
    remaining = keys
    return try [next] + releaseRemaining(in: storage, now: now, policy: policy)
  }

  /// Releases the remaining entries of this trial, as far as there is capacity and the backend asked for no pause.
  mutating func releaseRemaining(
    in storage: some QuarantineStorage, now: Timestamp, policy: RetryPolicy
  ) throws(QueueError) -> [SyncAction] {
    var waiting: [EntryKey] = []
    defer { remaining += waiting }
    waitsUntil = nil
    while let key = remaining.first {
      if try storage.entry(key)?.state == .quarantined {
        if let asked = try Self.pause(of: key, in: storage, now: now, policy: policy) {
          waitsUntil = min(waitsUntil ?? asked, asked)
          waiting.append(remaining.removeFirst())
          continue
        }
        guard try storage.release(key, nil, now: now) else { break }
      }
      remaining.removeFirst()
    }
    return waitsUntil.map { [.wake(at: $0)] } ?? []
  }

  private mutating func goOnAfterWait(
    in storage: some QuarantineStorage, _ isStoreHoldingMore: Bool, now: Timestamp, policy: RetryPolicy
  ) throws(QueueError) -> [SyncAction] {
    guard let moment = waitsUntil.map({ policy.bounded($0, after: now) }) else { return [] }
    guard moment <= now else { return [.wake(at: moment)] }
    // With transactions in the store, the trial goes on after the listing.
    return isStoreHoldingMore ? [] : try releaseRemaining(in: storage, now: now, policy: policy)
  }

  // MARK: One entry

  /// The result of `place`.
  enum Placement: Hashable {
    /// It is in quarantine, where it takes no capacity. The storage may have failed to note the moment.
    case quarantined([SyncAction])
    /// The quarantine was full: the entry is postponed in its lane for as long.
    case postponed(until: Timestamp)
  }

  /// Quarantines an entry. `asked`: when the backend wants it again at the earliest.
  func place(
    _ key: EntryKey, _ reason: String, asked: Timestamp?, in storage: some QuarantineStorage & LaneStorage,
    now: Timestamp, policy: RetryPolicy
  ) throws(QueueError) -> Placement {
    let isFirst = try storage.quarantined().isEmpty
    // Record the moment before moving the entry. After a kill or a full disk in between, a new proof would release the
    // entry too early.
    if asked != nil { try note(key, asked, isFirst, in: storage, now: now) }
    guard try storage.quarantine(key, reason: reason, now: now) else {
      let wait = Wait(
        .poison, began: now, milliseconds: policy.quarantineRetryMilliseconds,
        asked: asked?.milliseconds(since: now) ?? 0)
      try storage.postpone(key, wait, reason: reason, now: now)
      return .postponed(until: wait.ends)
    }
    var actions: [SyncAction] = [
      .emit(.quarantined(key, reason: reason)), .wake(at: Self.nextTrial(now: now, policy: policy)),
    ]
    if isFirst, asked == nil {
      actions += .attempting { () throws(QueueError) in
        try note(key, nil, true, in: storage, now: now)
        return []
      }
    }
    return .quarantined(actions)
  }

  /// The result of `newProof`.
  enum Release: Hashable {
    case noCapacity
    case released
  }

  /// A new proof is a reason to try again. A store may sign again each time it is asked, and quarantining an entry
  /// frees capacity for which the store is asked: so the first new proof after a wake, or in an hour, releases at once,
  /// the next ones ever more slowly.
  mutating func newProof(
    of key: EntryKey, in storage: some QuarantineStorage, now: Timestamp, _ delays: inout Delays
  ) throws(QueueError) -> Release {
    let pace = releasePaces[key, default: .proofReleases]
    let releases = pace.wait(at: now.milliseconds) > 0 ? proofReleases[key, default: 1] : 0
    let asked = try Self.pause(of: key, in: storage, now: now, policy: delays.policy)
    let pause = asked?.milliseconds(since: now) ?? 0
    let delay = releases > 0 ? delays.wait(afterFailures: releases + 4, now: now).milliseconds : 0
    let wait = Wait(.backoff, began: now, milliseconds: delay, asked: pause)
    guard try storage.release(key, wait.milliseconds > 0 ? wait : nil, now: now) else {
      // The proof is stored, and no news the next time: freed capacity releases the entry, as one of the trial.
      if delay == 0, !remaining.contains(key) { remaining.append(key) }
      return .noCapacity
    }
    proofReleases[key] = releases + 1
    _ = releasePaces[key, default: pace].takes(at: now.milliseconds)
    return .released
  }

  /// A wake ends the waits of queued entries. The list that follows it may bring the proof of one in quarantine.
  mutating func woken() { (proofReleases, releasePaces) = ([:], [:]) }

  /// The entry is settled: its releases do not count any more.
  mutating func settled(_ key: EntryKey) {
    if !proofReleases.isEmpty { (proofReleases[key], releasePaces[key]) = (nil, nil) }
    if !proofPaces.isEmpty { proofPaces[key] = nil }
  }

  /// Whether a new proof ends the wait of an entry in its lane.
  mutating func takesProof(of key: EntryKey, now: Timestamp) -> Bool {
    proofPaces[key, default: .newProofs].takes(at: now.milliseconds)
  }

  // MARK: The stored record

  /// Brings the moments of the stored record back to the horizon.
  static func clamp(in storage: some QuarantineStorage, now: Timestamp, policy: RetryPolicy)
    throws(QueueError)
  {
    guard let stored = try storage.quarantineTrial() else { return }
    var clamped = stored
    clamped.at = min(stored.at, now)
    clamped.notBefore = stored.notBefore?.mapValues { policy.bounded($0, after: now) }
    if clamped != stored { try storage.keep(clamped) }
  }

  /// A trial that begins now. Pauses that are not over stay.
  private func record(after last: TrialRecord?, now: Timestamp) -> TrialRecord {
    var record = TrialRecord(at: now, appVersion: appVersion)
    record.notBefore = last?.notBefore?.filter { $0.value > now }
    return record
  }

  private func note(
    _ key: EntryKey, _ asked: Timestamp?, _ isFirst: Bool, in storage: some QuarantineStorage, now: Timestamp
  ) throws(QueueError) {
    let last = try storage.quarantineTrial()
    // While the quarantine was empty, nothing was tried: its day begins now.
    var next = record(after: last, now: now)
    if !isFirst, let last { (next.at, next.appVersion) = (last.at, last.appVersion) }
    if let asked { next.notBefore = (next.notBefore ?? [:]).merging([key: asked]) { $1 } }
    try storage.keep(next)
  }

  /// The pause that the backend asked for when the entry was quarantined; nil if it is over.
  private static func pause(
    of key: EntryKey, in storage: some QuarantineStorage, now: Timestamp, policy: RetryPolicy
  ) throws(QueueError) -> Timestamp? {
    guard let asked = try storage.quarantineTrial()?.notBefore?[key], asked > now else { return nil }
    return policy.bounded(asked, after: now)
  }

  private static func nextTrial(now: Timestamp, policy: RetryPolicy) -> Timestamp {
    policy.bounded(now.adding(milliseconds: policy.quarantineRetryMilliseconds), after: now)
  }
}

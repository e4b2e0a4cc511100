import PurchaseQueue

/// Finishing one transaction at the store.
///
/// ```
///              begin                failed               begin, or it is due
///   (not there) ────▶ calling ─────────────▶ waiting ─────────────────────▶ calling
///                        │ finished: the duty is cleared
///                        │ not listed: the duty stays, and the next listing decides
///                        └─────────────▶ (not there)
/// ```
///
/// A tombstone that is gone, and a listing that shows that the finish is done, end every state.
enum Finishing: Hashable {
  /// A call is under way. So many calls failed before.
  case calling(failures: Int)
  /// A call failed. The next call begins after this, or when the transaction is delivered again.
  case waiting(failures: Int, Wait)

  var isCalling: Bool {
    if case .calling = self { true } else { false }
  }
}

/// Finishes transactions at the store: only after their settlement is durable. Every call ends by
/// a success, or is followed by another one.
struct FinishTable: Hashable {
  private var states: [EntryKey: Finishing] = [:]
  /// Of all calls that repeat a failed one: a store that fails is not called more often for it.
  private var repeats = CallPace.finishRepeats

  func state(of key: EntryKey) -> Finishing? { states[key] }

  /// Calls the store, unless a call is under way. A redelivery does not wait for the moment of a retry, but for the
  /// pace.
  mutating func begin(_ tombstone: Tombstone, now: Timestamp, into actions: inout [SyncAction]) {
    switch states[tombstone.key] {
    case .calling: return
    case .waiting(let failures, _):
      guard repeats.takes(at: now.milliseconds) else {
        return actions.append(.wake(at: now.adding(milliseconds: repeats.wait(at: now.milliseconds))))
      }
      states[tombstone.key] = .calling(failures: failures)
    case nil: states[tombstone.key] = .calling(failures: 0)
    }
    actions.append(.finish(tombstone))
  }

  mutating func begin(_ tombstone: Tombstone, now: Timestamp) -> [SyncAction] {
    var actions: [SyncAction] = []
    begin(tombstone, now: now, into: &actions)
    return actions
  }

  /// A call ended, or took too long. Throws after the call is forgotten.
  mutating func ended(
    _ key: EntryKey, _ end: FinishEnd, in storage: some SettlementStorage, now: Timestamp,
    _ delays: inout Delays
  ) throws(QueueError) -> [SyncAction] {
    guard case .calling(let before)? = states.removeValue(forKey: key) else {
      preconditionFailure("\(key) was not being finished")
    }
    switch end {
    case .finished:
      // A redelivery is finished although nothing is pending, and the tombstone may have been dropped since.
      if try storage.tombstone(key)?.isFinishPending == true { try storage.markFinished(key) }
      return []
    case .notListed: return []
    case .failed:
      let wait = delays.wait(afterFailures: before + 1, now: now)
      states[key] = .waiting(failures: before + 1, wait)
      return [.wake(at: wait.ends)]
    }
  }

  /// Calls that failed and are due again.
  mutating func goOn(
    in storage: some SettlementStorage, now: Timestamp, policy: RetryPolicy
  ) -> [SyncAction] {
    var (due, next): ([EntryKey], Timestamp?) = ([], nil)
    for (key, state) in states {
      guard case .waiting(_, let wait) = state else { continue }
      let moment = wait.opensAt(now: now)
      if moment <= now { due.append(key) } else { next = min(next ?? moment, moment) }
    }
    var actions = next.map { [SyncAction.wake(at: $0)] } ?? []
    for key in due.sorted(by: EntryKey.isBefore) {
      actions += .attempting { () throws(QueueError) in
        guard let tombstone = try storage.tombstone(key) else {
          states[key] = nil
          return []
        }
        return begin(tombstone, now: now)
      }
    }
    return actions
  }

  /// The store answered with its list. A pending finish that is not on the list is done, unless another store account
  /// is known to have bought the transaction: then it waits for that account. Marking one too many costs nothing,
  /// because a settled transaction that is delivered again is finished again. `ended`: how many are done.
  mutating func listed(
    _ keys: Set<EntryKey>, account: String?, in storage: some SettlementStorage, now: Timestamp
  ) throws(QueueError) -> (actions: [SyncAction], ended: Int) {
    var (actions, ended): ([SyncAction], Int) = ([], 0)
    for tombstone in try storage.tombstonesWithDuties() where tombstone.isFinishPending {
      if keys.contains(tombstone.key) {
        begin(tombstone, now: now, into: &actions)
        continue
      }
      // Unknown if the stored details cannot be read. The transaction then counts as this account's.
      let owner = try storage.storeAccount(of: tombstone)
      if let owner, let account, owner != account { continue }
      if states[tombstone.key]?.isCalling == true { continue }
      states[tombstone.key] = nil
      actions += .attempting { () throws(QueueError) in
        try storage.markFinished(tombstone.key)
        ended += 1
        return []
      }
    }
    return (actions, ended)
  }

  // MARK: Time

  /// A wake. Devices that are woken together need not spread: only their own store is called.
  mutating func woken(now: Timestamp, policy: RetryPolicy) {
    changeWaits { $0.shorten(to: now, pace: policy.paceMilliseconds) }
  }

  /// The clock went back. Calls that were due are due now.
  mutating func follow(_ jump: ClockJump) {
    changeWaits { $0.follow(jump) }
    repeats.follow(jump)
  }

  mutating func clamp(now: Timestamp) { changeWaits { $0.clockIsAt(now) } }

  private mutating func changeWaits(_ change: (inout Wait) -> Void) {
    for (key, state) in states {
      guard case .waiting(let failures, var wait) = state else { continue }
      change(&wait)
      states[key] = .waiting(failures: failures, wait)
    }
  }
}

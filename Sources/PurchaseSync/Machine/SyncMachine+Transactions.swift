package import PurchaseQueue

/// Deliveries of the store, and confirmations of the app.
extension SyncMachine {
  /// A transaction, new or delivered again. When this returns, it is durable. When it throws, it is not, and the store
  /// will deliver it again. `storeAccount`: the store account whose listing it was in, if it was in one. `isRestored`: it
  /// was in the receipt that a user asked for.
  package mutating func transactionArrived(
    _ transaction: StoreTransaction, storeAccount: String? = nil, user: AppUser = .none,
    isRestored: Bool = false, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    advance(to: now)
    let key = transaction.key
    // A question about the transaction is no entry of it: an update takes its place.
    let before = try transactionStorage.entry(key).flatMap { $0.lane.asker == nil ? $0 : nil }
    // Most redelivered transactions are settled: nothing to match, and nothing to write.
    if before == nil, let tombstone = try settlementStorage.tombstone(key) {
      let asksAgain = isRestored && Self.mayBeOwned(tombstone, by: user)
      return try redelivered(transaction, tombstone, asksAgain: asksAgain, now: now)
    }
    let match = try OrderMatcher.match(transaction, named: key, from: transactionStorage, user: user)
    let enqueued: Enqueued
    do throws(QueueError) {
      enqueued = try transactionStorage.enqueue(
        transaction, match, storeAccount: storeAccount ?? self.storeAccount, now: now)
    } catch {
      if case .queueFull(let limit, _, _) = error { storeOverflows(limit) }
      throw error
    }
    switch enqueued {
    case .inserted(let entry): return inserted(entry, match, now: now)
    case .collapsed(let entry): return try collapsed(transaction, entry, before, now: now)
    case .settled(let tombstone): return try redelivered(transaction, tombstone, now: now)
    }
  }

  /// The owner of an entry that was never sent is known: it is in that lane now.
  mutating func ownerFound(_ entry: Entry, now: Timestamp) -> [SyncAction] {
    advance(to: now)
    wake(entry.lane, for: .person, now: now)
    return sendNext(entry.lane, now: now)
  }

  // MARK: Transactions that come together

  /// Several transactions come together. No lane sends before `sendHeld`: one upload can then carry all of them.
  package mutating func holdSends() { lanes.hold() }

  /// The last of these transactions has come, and what was stored is committed.
  package mutating func sendHeld(now: Timestamp) -> [SyncAction] {
    advance(to: now)
    var actions: [SyncAction] = []
    for lane in lanes.letGo() { sendNext(lane, into: &actions, now: now) }
    return actions
  }

  /// In answer to `listStore`, the driver took transactions that an earlier list had and that did not fit then. Whether
  /// the store keeps more is known at the next list.
  package mutating func heldArrived(now: Timestamp) -> [SyncAction] {
    advance(to: now)
    storeSide.overflow.heldArrived()
    storeSide.overflow.waitForCapacity(now: now, policy: policy)
    return waitForOverflow(now: now) + askForOverflow()
  }

  private mutating func inserted(_ entry: Entry, _ match: OrderMatch, now: Timestamp) -> [SyncAction] {
    var actions: [SyncAction] = []
    actions.reserveCapacity(4)
    actions.append(.emit(.queued(entry.key, match)))
    if entry.isUnprotected { actions.append(.emit(.unprotected(entry.key))) }
    wake(entry.lane, for: .person, now: now)
    sendNext(entry.lane, into: &actions, now: now)
    return actions
  }

  /// The entry was queued already. At most a proof or an order is new.
  private mutating func collapsed(
    _ transaction: StoreTransaction, _ entry: Entry, _ before: Entry?, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    update(entry.lane) { state, _ in state.arrived(transaction) }
    let actions = try settlementStorage.tombstone(entry.key).map { finish($0, after: entry, now: now) } ?? []
    switch entry.state {
    case .queued, .damaged:
      try endProofWait(of: entry, before, now: now)
      return actions + sendNext(entry.lane, now: now)
    case .quarantined:
      // A new proof is a reason to try again; the same one is not.
      guard entry.payloads != before?.payloads,
        try releaseProven(entry.key, in: entry.lane, now: now)
      else { return actions }
      return actions + sendNext(entry.lane, now: now)
    }
  }

  /// The store has the proof of an entry whose bytes are not in the file: it is sent now, if it waited for them.
  private mutating func endProofWait(
    of entry: Entry, _ before: Entry?, now: Timestamp
  ) throws(QueueError) {
    guard entry.readyAt > now, before?.isByReference == true,
      var wait = try laneStorage.wait(of: entry.key), quarantine.takesProof(of: entry.key, now: now)
    else { return }
    wait.shorten(to: now, pace: 0)
    guard wait.ends < entry.readyAt else { return }
    try laneStorage.postpone(entry.key, wait, reason: "the store has its proof", now: now)
  }

  /// Whether a purchase that the device lane learned to be another account's may be this user's: another one was signed
  /// in then, or none.
  private static func mayBeOwned(_ tombstone: Tombstone, by user: AppUser) -> Bool {
    user.account != nil && tombstone.lane == .device && tombstone.owner == .another
  }

  /// The transaction is settled: the finish did not reach the store, or the store has an update. `asksAgain`: the backend
  /// is asked once more whose it is.
  mutating func redelivered(
    _ transaction: StoreTransaction, _ tombstone: Tombstone, asksAgain: Bool = false, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    let isNews = try transactionStorage.isNews(transaction, since: tombstone)
    guard isNews || asksAgain else { return finish(tombstone, now: now) }
    do throws(QueueError) {
      let entry = try transactionStorage.enqueueUpdate(transaction, of: tombstone, now: now)
      wake(entry.lane, for: .retry, now: now)
      return finish(tombstone, after: entry, now: now) + [.emit(.updateQueued(entry.key))]
        + sendNext(entry.lane, now: now)
    } catch .queueFull {
      // An update takes no capacity from a purchase. It is recorded, and queued when there is capacity.
      try pendingUpdateStorage.oweUpdate(transaction, now: now)
      return finish(tombstone, after: nil, now: now) + [hasPendingUpdate(now: now)]
    }
  }

  /// The update is under way; nil: it is recorded without its proof. The store need not wait for it, unless the proof is
  /// only there: a finished transaction is not listed again, and a backend that never acknowledged the purchase credits
  /// nothing for an id. Then the settlement of the update finishes it.
  private mutating func finish(_ tombstone: Tombstone, after update: Entry?, now: Timestamp) -> [SyncAction] {
    let isProofElsewhere = update?.isByReference ?? true
    if isProofElsewhere, tombstone.outcome == Tombstone.discarded { return [] }
    return finish(tombstone, now: now)
  }

  /// An account's question about a settled transaction is stored, or pending for lack of capacity.
  mutating func questionCame(now: Timestamp) -> [SyncAction] {
    advance(to: now)
    _ = hasPendingUpdate(now: now)
    return timerFired(now: now)
  }

  private mutating func wake(_ lane: Lane, for purpose: RetryBudget.Purpose, now: Timestamp) {
    update(lane) { state, delays in state.wake(for: purpose, now: now, &delays) }
  }

  mutating func sendNext(_ lane: Lane, now: Timestamp) -> [SyncAction] {
    var actions: [SyncAction] = []
    sendNext(lane, into: &actions, now: now)
    return actions
  }

  private mutating func finish(_ tombstone: Tombstone, now: Timestamp) -> [SyncAction] {
    var actions: [SyncAction] = []
    finish(tombstone, now: now, into: &actions)
    return actions
  }

  /// A receipt was read that holds the transaction.
  package mutating func proofFound(
    _ proof: Payload, for key: EntryKey, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    advance(to: now)
    guard let entry = try transactionStorage.entry(key) else { return [] }
    let watch = try attemptStorage.watch(of: key)
    let waitsForProof = watch.unknownAnswers > 0
    try transactionStorage.attach(proof, to: key, now: now)
    let isNew = try transactionStorage.entry(key)?.payloads != entry.payloads
    // A receipt that is the same, or signed each time it is read, is no news: the answers to the earlier ones still count.
    if waitsForProof, entry.state != .quarantined,
      !isNew || !quarantine.takesProof(of: key, now: now)
    {
      try commitRetry([key: watch], now: now)
      return []
    }
    guard isNew else { return [] }
    switch entry.state {
    case .quarantined: guard try releaseProven(key, in: entry.lane, now: now) else { return [] }
    case .queued, .damaged:
      // The new proof ends a wait for a receipt, but not a pause that the backend asked for.
      guard waitsForProof, entry.readyAt > now, var wait = try laneStorage.wait(of: key) else { break }
      wait.shorten(to: now, pace: 0)
      if wait.ends < entry.readyAt {
        try laneStorage.postpone(key, wait, reason: "a newer receipt", now: now)
      }
    }
    return sendNext(entry.lane, now: now)
  }

  /// The app saw this outcome. One that a later verdict has replaced is ignored, because the app has not seen the later one,
  /// and one that waits for the account that proved the purchase. Then it returns nil.
  package mutating func outcomeConfirmed(
    _ outcome: Outcome, now: Timestamp
  ) throws(QueueError) -> [SyncAction]? {
    advance(to: now)
    guard let tombstone = try settlementStorage.tombstone(outcome.key), outcome.isPresent(in: tombstone)
    else {
      return nil
    }
    return try outcomeConfirmed(outcome.key, now: now)
  }

  /// The app saw the present outcome of the transaction; one that is not known any more is ignored.
  package mutating func outcomeConfirmed(
    _ key: EntryKey, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    advance(to: now)
    guard try settlementStorage.tombstone(key)?.isUnconfirmed == true else { return [] }
    try settlementStorage.markConfirmed(key)
    return dutyEnded(now: now)
  }
}

package import PurchaseQueue

/// What the store hands over.
extension SyncMachine {
  /// A transaction, new or again. When this returns, it is durable; when it throws, it is not, and the store will
  /// deliver it again. `storeAccount` is whose listing it was in, if it was in one.
  package mutating func transactionArrived(
    _ transaction: StoreTransaction, storeAccount: String? = nil, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    precondition(isStarted, "transactions arrive at a machine that has started")
    note(now)
    let key = transaction.key
    let before = try storage.entry(key)
    // Most of what is redelivered: nothing to match, and nothing to write.
    if before == nil, let tombstone = try storage.tombstone(key) {
      return try redelivered(transaction, tombstone, now: now)
    }
    let match = try OrderMatcher.match(transaction, named: key, from: storage)
    let enqueued: Enqueued
    do throws(QueueError) {
      enqueued = try storage.enqueue(
        transaction, match, storeAccount: storeAccount ?? self.storeAccount, now: now)
    } catch {
      if case .queueFull = error { hasOverflow = true }
      throw error
    }
    switch enqueued {
    case .inserted(let entry): return try inserted(entry, match, now: now)
    case .collapsed(let entry): return try collapsed(transaction, entry, before, now: now)
    case .settled(let tombstone): return try redelivered(transaction, tombstone, now: now)
    }
  }

  private mutating func inserted(
    _ entry: Entry, _ match: OrderMatch, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    var actions: [SyncAction] = []
    actions.reserveCapacity(4)
    actions.append(.emit(.queued(entry.key, match)))
    if entry.isUnprotected { actions.append(.emit(.unprotected(entry.key))) }
    let state = wake(entry.lane, for: .person, now: now)
    sendNext(entry.lane, state, into: &actions, now: now)
    return actions
  }

  /// It was here: only a proof or an order that it had not may be new.
  private mutating func collapsed(
    _ transaction: StoreTransaction, _ entry: Entry, _ before: Entry?, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    if lanes[entry.lane]?.sent.contains(where: { $0.key == entry.key }) == true {
      arrivedMeanwhile[entry.key] = transaction
    }
    // News of something settled is under way; the store need not wait for it.
    let actions = try storage.tombstone(entry.key).map { startFinish($0) } ?? []
    switch entry.state {
    case .queued, .damaged: return actions + sendNext(entry.lane, now: now)
    case .quarantined:
      // A new proof is a reason to try again; the same one is not.
      guard entry.proofs != before?.proofs, try releaseProven(entry.key, now: now) else { return actions }
      return actions + sendNext(entry.lane, now: now)
    }
  }

  /// Settled before: the finish did not reach the store, or the store has news.
  mutating func redelivered(
    _ transaction: StoreTransaction, _ tombstone: Tombstone, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    guard try storage.isNews(transaction, since: tombstone) else { return startFinish(tombstone) }
    do throws(QueueError) {
      let entry = try storage.enqueueUpdate(transaction, of: tombstone, now: now)
      wake(entry.lane, now: now)
      return startFinish(tombstone) + [.emit(.updateQueued(entry.key))] + sendNext(entry.lane, now: now)
    } catch .queueFull {
      // Never at the cost of a purchase: it is noted, and queued when there is room.
      try storage.oweUpdate(transaction, now: now)
      hasOwedUpdates = true
      return startFinish(tombstone) + [waitToQueueOwed(now: now)]
    }
  }

  /// Somebody gave the entry up. An answer about it that is still to come is about nothing that is here.
  package mutating func discarded(_ key: EntryKey) {
    precondition(isStarted, "entries are given up in a machine that has started")
    arrivedMeanwhile[key] = nil
    if lanes.values.contains(where: { $0.sent.contains { $0.key == key } }) { givenUp.insert(key) }
  }

  /// A receipt was read in which the transaction is.
  package mutating func proofFound(
    _ proof: Proof, for key: EntryKey, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    precondition(isStarted, "receipts are read for a machine that has started")
    note(now)
    guard let entry = try storage.entry(key) else { return [] }
    // It ends a wait for a receipt, not one that the backend asked for.
    let waitsForIt = try storage.watch(of: key).unknownAnswers > 0 && !askedToWait.contains(key)
    try storage.attach(proof, to: key, now: now)
    guard try storage.entry(key)?.proofs != entry.proofs else { return [] }
    switch entry.state {
    case .quarantined: guard try releaseProven(key, now: now) else { return [] }
    case .queued, .damaged:
      if waitsForIt, entry.readyAt > now {
        try storage.postpone(key, until: now, reason: "a newer receipt", now: now)
      }
    }
    return sendNext(entry.lane, now: now)
  }
}

import PurchaseQueue

/// What is owed to the backend about settled transactions, and what waits for room.
extension SyncMachine {
  /// The epoch of the backend's ledger came with a reply. Another one than before: the backend was restored from a
  /// backup, and everything settled is offered to it again.
  mutating func epochArrived(_ new: String) throws(QueueError) -> [SyncAction] {
    // The file's counts: another process of this installation may have heard of another one meanwhile. An answer of
    // before that settles what is not in the ledger any more: then everything is offered once more.
    let known = try storage.ledgerEpoch()
    guard new != known else {
      if new != epoch { (epoch, hasOwedUpdates) = (new, true) }
      return []
    }
    let isRestored = known != nil
    try storage.keepLedgerEpoch(new, offeringAgain: isRestored)
    epoch = new
    guard isRestored else { return [] }
    hasOwedUpdates = true
    return [.emit(.ledgerChanged)]
  }

  /// As much of what is owed as there is room for, in whatever lanes.
  mutating func queueOwedUpdates(now: Timestamp) throws(QueueError) -> [SyncAction] {
    let owed = try storage.queueOwedUpdates(now: now)
    hasOwedUpdates = owed.areWaiting
    let waiting = owed.areWaiting ? [waitToQueueOwed(now: now)] : []
    guard !owed.queued.isEmpty else { return waiting }
    return owed.queued.map { .emit(.updateQueued($0)) } + sendAll(now: now) + waiting
  }

  /// As for what the store keeps: another process may make room, and tells nobody.
  func waitToQueueOwed(now: Timestamp) -> SyncAction {
    .wake(at: soonest(now.adding(milliseconds: policy.capMilliseconds), now))
  }

  /// There may be room again: what the store or the backend has been kept waiting with is asked for again.
  mutating func roomIsFree(now: Timestamp) -> [SyncAction] {
    takeRoom(now: now) + askForOverflow()
  }

  /// The same, where the store is to be asked at the end of the event.
  mutating func takeRoom(now: Timestamp) -> [SyncAction] {
    var actions: [SyncAction] = []
    if hasOwedUpdates {
      actions = attempt { (machine) throws(QueueError) in try machine.queueOwedUpdates(now: now) }
    }
    // A purchase that the store keeps for us comes before one that was tried before.
    if hasOverflow {
      isRoomNews = true
    } else {
      actions += goOnWithParked(now: now)
    }
    return actions
  }

  /// A trial of the quarantine that had no room for all of it goes on.
  mutating func goOnWithParked(now: Timestamp) -> [SyncAction] {
    guard !stillParked.isEmpty else { return [] }
    return attempt { (machine) throws(QueueError) in
      try machine.releaseParked(now: now) + machine.sendAll(now: now)
    }
  }

  /// Something could not be stored here, and is in the store still.
  mutating func storeKeepsMore() { (hasOverflow, isRoomNews) = (true, true) }

  /// At the cap's pace, as long as it lasts.
  mutating func waitForRoom(now: Timestamp) -> [SyncAction] {
    overflowDue = now.adding(milliseconds: policy.capMilliseconds)
    return askForOverflowAgain(now: now)
  }

  /// The same of what was handed over alone: nobody lists the store for it.
  mutating func lackedRoom(now: Timestamp) -> [SyncAction] {
    precondition(isStarted, "room is lacking in a machine that has started")
    note(now)
    return isParked ? [] : askForOverflowAgain(now: now)
  }

  /// The store did not answer: what it keeps is not known to be less than before.
  mutating func storeNotListed(now: Timestamp) -> [SyncAction] {
    precondition(isStarted, "the store is asked for a machine that has started")
    note(now)
    if isAskedForOverflow { (hasOverflow, isAskedForOverflow) = (true, false) }
    return isParked ? [] : askForOverflowAgain(now: now)
  }

  mutating func askForOverflowAgain(now: Timestamp) -> [SyncAction] {
    guard hasOverflow, !isRoomNews else { return [] }
    let due = (overflowDue ?? .distantFuture).clamped(to: policy.capMilliseconds, after: now)
    guard due <= now else {
      overflowDue = due
      return [.wake(at: due)]
    }
    overflowDue = nil
    isRoomNews = true
    return []
  }

  /// The store is asked again for what had no room, once nothing is on its way any more: of a thousand that it holds,
  /// one at a time would be a thousand listings.
  mutating func askForOverflow() -> [SyncAction] {
    guard isRoomNews, !lanes.values.contains(where: { !$0.sent.isEmpty }) else { return [] }
    isRoomNews = false
    hasOverflow = false
    overflowDue = nil
    isAskedForOverflow = true
    return [.listStore]
  }
}

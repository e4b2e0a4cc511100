import PurchaseQueue

/// What is owed to the backend about settled transactions, and what waits for room.
extension SyncMachine {
  /// The epoch of the backend's ledger came with a reply. Another one than before: the backend was restored from a
  /// backup, and everything settled is offered to it again.
  mutating func epochArrived(_ new: String) throws(QueueError) -> [SyncAction] {
    guard new != epoch else { return [] }
    // What another process of this installation has heard meanwhile, the file knows.
    let known = try storage.ledgerEpoch()
    guard new != known else {
      epoch = new
      hasOwedUpdates = true
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
    guard !owed.queued.isEmpty else { return [] }
    return owed.queued.map { .emit(.updateQueued($0)) } + sendAll(now: now)
  }

  /// There may be room again: what the store or the backend has been kept waiting with is asked for again.
  mutating func roomIsFree(now: Timestamp) -> [SyncAction] {
    var actions: [SyncAction] = []
    if hasOwedUpdates {
      actions = attempt { (machine) throws(QueueError) in try machine.queueOwedUpdates(now: now) }
    }
    // A purchase that the store keeps for us comes before one that was tried before.
    guard hasOverflow else {
      guard !stillParked.isEmpty else { return actions }
      return actions
        + attempt { (machine) throws(QueueError) in
          try machine.releaseParked(now: now)
          return machine.sendAll(now: now)
        }
    }
    hasOverflow = false
    return actions + [.listStore]
  }
}

package import PurchaseQueue

/// Transactions that the store keeps for lack of capacity: when the store is asked for them.
extension SyncMachine {
  /// Whether the store keeps transactions for which there was no capacity.
  package var isStoreHoldingMore: Bool { storeSide.overflow.isStoreHoldingMore }

  /// There may be capacity again: for pending updates, for transactions that the store keeps, and for the quarantine.
  package mutating func capacityFreed(now: Timestamp) -> [SyncAction] {
    useFreedCapacity(now: now) + askForOverflow()
  }

  /// The store knows that a settled transaction is done, or the app knows its outcome. That frees capacity only where such
  /// duties take all that tombstones may take.
  mutating func dutyEnded(now: Timestamp) -> [SyncAction] {
    storeSide.isFullOfDuties ? capacityFreed(now: now) : []
  }

  /// A transaction that was delivered by itself had no capacity.
  package mutating func capacityLacked(now: Timestamp) -> [SyncAction] {
    advance(to: now)
    return isSuspended ? [] : waitForOverflow(now: now)
  }

  /// The store did not answer.
  package mutating func storeNotListed(now: Timestamp) -> [SyncAction] {
    advance(to: now)
    storeSide.overflow.notListed()
    return isSuspended ? [] : waitForOverflow(now: now)
  }

  /// A transaction could not be stored here. The store still has it.
  package mutating func storeKeepsMore() { storeSide.overflow.storeKeepsMore() }

  /// A transaction did not fit.
  mutating func storeOverflows(_ limit: QueueLimit) {
    storeSide.isFullOfDuties = limit == .tombstoneBytes
    storeSide.overflow.full()
  }

  mutating func waitForOverflow(now: Timestamp) -> [SyncAction] {
    storeSide.overflow.wakeUp(now: now, policy: policy).map { [.wake(at: $0)] } ?? []
  }

  /// Asks the store if there may be capacity. While a lane sends (`own`; nil: any), its answer may free more: one list then
  /// brings all. An upload that hangs in another lane does not hold up what an answer has freed.
  mutating func askForOverflow(unlessSending own: Lane? = nil) -> [SyncAction] {
    let freesMore = own.map { lanes[$0].inFlight != nil } ?? lanes.hasInFlight
    return !freesMore && storeSide.overflow.ask() ? [.listStore] : []
  }
}

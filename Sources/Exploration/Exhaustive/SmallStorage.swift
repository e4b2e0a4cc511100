import PurchaseQueue
import PurchaseSync

/// The storage that all machines of a search have. Before a step it gets a copy of the device's content; during the step
/// it reports each commit.
final class SmallStorage: ForwardingStorage {
  /// The content as the process sees it.
  var content: any BranchingStorage
  /// What a crash would leave; nil if that is the same.
  var durable: (any BranchingStorage)?
  let bug: ExhaustiveBug?
  /// Hears of each commit.
  var committed: () -> Void = {}

  init(_ content: any BranchingStorage, bug: ExhaustiveBug?) { (self.content, self.bug) = (content, bug) }

  var base: any SyncStorage { content }

  /// What is on the disk.
  var onDisk: any BranchingStorage { durable ?? content }

  func write<R>(_ call: () throws(QueueError) -> R) throws(QueueError) -> R {
    let result = try call()
    durable = nil
    committed()
    return result
  }

  // MARK: Planted bugs

  func enqueue(
    _ transaction: StoreTransaction, _ match: OrderMatch, storeAccount: String?, now: Timestamp
  ) throws(QueueError) -> Enqueued {
    if bug == .evictsOldest { try evict(for: transaction, now: now) }
    let before = bug == .enqueueNotDurable ? onDisk.branch() : nil
    let result = try content.enqueue(transaction, match, storeAccount: storeAccount, now: now)
    durable = before
    committed()
    return result
  }

  private func evict(for transaction: StoreTransaction, now: Timestamp) throws(QueueError) {
    guard content.allEntries.count >= SmallWorld.limits.entries, let oldest = content.allEntries.first,
      oldest.key != transaction.key, try content.tombstone(transaction.key) == nil
    else { return }
    try remove(oldest.key, now: now)
    committed()
  }

  /// Removes an entry as a careless engineer would. The protocol of storages has no such call.
  func remove(_ key: EntryKey, now: Timestamp) throws(QueueError) {
    _ = try content.settle([SettledClaim(key: key, verdict: .lapsed)], now: now)
    try content.markFinished(key)
    try content.markConfirmed(key)
  }

  func recordAttempt(_ keys: [EntryKey], keeping state: RetryState?, now: Timestamp) throws(QueueError) {
    try content.recordAttempt(bug == .attemptNotStored ? [] : keys, keeping: state, now: now)
    if bug != .enqueueNotDurable { durable = nil }
    committed()
  }

  func settle(_ claims: [SettledClaim], now: Timestamp) throws(QueueError) -> SettledClaims {
    let result = try content.settle(claims, now: now)
    if bug == .unconfirmedForgotten { for claim in claims { try content.markConfirmed(claim.key) } }
    durable = nil
    committed()
    return result
  }
}

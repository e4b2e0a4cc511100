import Foundation
import PurchaseQueue
import PurchaseSyncTesting

@testable import PurchaseSync

/// A storage whose calls fail when they are told to: before they did anything, after they did all of it, or because the
/// process is about to die.
final class FaultyStorage: SyncStorage {
  enum Fault: CaseIterable {
    /// Thrown, and nothing was done.
    case before
    /// Thrown, although it was done: the worst that a full disk or a lock can look like.
    case after
    /// This call and all that follow do nothing: where a kill falls between two commits.
    case death
  }

  let inner: MemoryStorage
  /// Which write of this event fails, counted from 0, and how.
  var fault: (at: Int, how: Fault)?
  /// Whether it did.
  private(set) var hasStruck = false
  private var writes = 0

  init(_ inner: MemoryStorage) { self.inner = inner }

  /// An event begins.
  func begin(_ fault: (at: Int, how: Fault)?) {
    self.fault = fault
    writes = 0
    hasStruck = false
  }

  private func write<R>(_ call: () throws(QueueError) -> R) throws(QueueError) -> R {
    defer { writes += 1 }
    guard let fault else { return try call() }
    let error = QueueError.busy(path: "q", reason: "injected")
    switch fault.how {
    case .before:
      guard writes == fault.at else { return try call() }
      hasStruck = true
      throw error
    case .after:
      let result = try call()
      guard writes == fault.at else { return result }
      hasStruck = true
      throw error
    case .death:
      guard writes >= fault.at else { return try call() }
      hasStruck = true
      throw error
    }
  }

  // MARK: Reading

  func orderFacts(accountToken: UUID) -> OrderFacts? { inner.orderFacts(accountToken: accountToken) }
  func knownTransaction(_ key: EntryKey) -> KnownTransaction? { inner.knownTransaction(key) }
  func unboundOrders(_ query: OrderQuery) -> [OrderFacts] { inner.unboundOrders(query) }
  func hasSeveralAccounts(_ query: OrderQuery) -> Bool { inner.hasSeveralAccounts(query) }
  func isNews(_ transaction: StoreTransaction, since tombstone: Tombstone) -> Bool {
    inner.isNews(transaction, since: tombstone)
  }
  func lanes() -> [Lane] { inner.lanes() }
  func readyEntries(in lane: Lane, now: Timestamp, limit: Int, dueFirst: Bool) -> [Entry] {
    inner.readyEntries(in: lane, now: now, limit: limit, dueFirst: dueFirst)
  }
  func nextReadyAt(in lane: Lane) -> Timestamp? { inner.nextReadyAt(in: lane) }
  func entry(_ key: EntryKey) -> Entry? { inner.entry(key) }
  func retryState() -> RetryState { inner.retryState() }
  func watch(of key: EntryKey) -> PoisonWatch { inner.watch(of: key) }
  func quarantined() -> [EntryKey] { inner.quarantined() }
  func hasQuarantined() -> Bool { inner.hasQuarantined() }
  func quarantineTrial() -> QuarantineTrial? { inner.quarantineTrial() }
  func binding(by orderNumber: String, of key: EntryKey) -> VerdictBinding {
    inner.binding(by: orderNumber, of: key)
  }
  func tombstone(_ key: EntryKey) -> Tombstone? { inner.tombstone(key) }
  func tombstonesWithDuties() -> [Tombstone] { inner.tombstonesWithDuties() }
  func storeAccount(of tombstone: Tombstone) -> String? { inner.storeAccount(of: tombstone) }
  func ledgerEpoch() -> String? { inner.ledgerEpoch() }
  func deviceClaims() -> [DeviceClaimant] { inner.deviceClaims() }
  func deviceLaneHolds(throughPlace place: Int64) -> Bool { inner.deviceLaneHolds(throughPlace: place) }

  // MARK: Writing

  func enqueue(
    _ transaction: StoreTransaction, _ match: OrderMatch, storeAccount: String?, now: Timestamp
  ) throws(QueueError) -> Enqueued {
    try write { () throws(QueueError) in
      try inner.enqueue(transaction, match, storeAccount: storeAccount, now: now)
    }
  }
  func enqueueUpdate(
    _ transaction: StoreTransaction, of tombstone: Tombstone, now: Timestamp
  ) throws(QueueError) -> Entry {
    try write { () throws(QueueError) in try inner.enqueueUpdate(transaction, of: tombstone, now: now) }
  }
  func attach(_ proof: Proof, to key: EntryKey, now: Timestamp) throws(QueueError) {
    try write { () throws(QueueError) in inner.attach(proof, to: key, now: now) }
  }
  func postpone(_ key: EntryKey, until: Timestamp, reason: String, now: Timestamp) throws(QueueError) {
    try write { () throws(QueueError) in try inner.postpone(key, until: until, reason: reason, now: now) }
  }
  func clampPostponed(to latest: Timestamp, now: Timestamp) throws(QueueError) {
    try write { () throws(QueueError) in inner.clampPostponed(to: latest, now: now) }
  }
  func recordAttempt(_ keys: [EntryKey], keeping state: RetryState?, now: Timestamp) throws(QueueError) {
    try write { () throws(QueueError) in try inner.recordAttempt(keys, keeping: state, now: now) }
  }
  func keep(_ state: RetryState, _ watches: [EntryKey: PoisonWatch], now: Timestamp) throws(QueueError) {
    try write { () throws(QueueError) in inner.keep(state, watches, now: now) }
  }
  func quarantine(_ key: EntryKey, reason: String, now: Timestamp) throws(QueueError) -> Bool {
    try write { () throws(QueueError) in try inner.quarantine(key, reason: reason, now: now) }
  }
  func release(_ key: EntryKey, until: Timestamp?, now: Timestamp) throws(QueueError) -> Bool {
    try write { () throws(QueueError) in try inner.release(key, until: until, now: now) }
  }
  func keep(_ trial: QuarantineTrial) throws(QueueError) {
    try write { () throws(QueueError) in inner.keep(trial) }
  }
  func acknowledge(_ settled: [SettledClaim], now: Timestamp) throws(QueueError) -> [Tombstone] {
    try write { () throws(QueueError) in try inner.acknowledge(settled, now: now) }
  }
  func markFinished(_ key: EntryKey) throws(QueueError) {
    try write { () throws(QueueError) in try inner.markFinished(key) }
  }
  func markSeen(_ key: EntryKey) throws(QueueError) {
    try write { () throws(QueueError) in try inner.markSeen(key) }
  }
  func keepLedgerEpoch(_ epoch: String, offeringAgain: Bool) throws(QueueError) {
    try write { () throws(QueueError) in inner.keepLedgerEpoch(epoch, offeringAgain: offeringAgain) }
  }
  func oweUpdate(_ transaction: StoreTransaction, now: Timestamp) throws(QueueError) {
    try write { () throws(QueueError) in inner.oweUpdate(transaction, now: now) }
  }
  func queueOwedUpdates(now: Timestamp) throws(QueueError) -> OwedUpdates {
    try write { () throws(QueueError) in inner.queueOwedUpdates(now: now) }
  }
  func keepClaim(of account: String) throws(QueueError) -> DeviceClaimant {
    try write { () throws(QueueError) in inner.keepClaim(of: account) }
  }
  func oweUpdate(of key: EntryKey) throws(QueueError) {
    try write { () throws(QueueError) in inner.oweUpdate(of: key) }
  }
  func endClaim(of account: String, throughPlace place: Int64) throws(QueueError) {
    try write { () throws(QueueError) in inner.endClaim(of: account, throughPlace: place) }
  }
}

import Foundation
import PurchaseQueue
import PurchaseSync

/// A storage with one bug in it.
final class PlantedStorage: SyncStorage {
  let base: any SyncStorage
  private let plant: Plant
  private let disk: PlantedDisk
  /// What this process last knew of the backend and of the budget.
  private var known: RetryState?
  private var keyOfProduct: [String: EntryKey] = [:]

  init(_ base: any SyncStorage, _ plant: Plant, _ disk: PlantedDisk) {
    self.base = base
    self.plant = plant
    self.disk = disk
  }

  /// Another write: what waited for it is written.
  private func flush() {
    disk.unwritten = nil
    disk.unburied = []
  }

  // MARK: Transactions

  func enqueue(
    _ transaction: StoreTransaction, _ match: OrderMatch, storeAccount: String?, now: Timestamp
  ) throws(QueueError) -> Enqueued {
    flush()
    if plant == .dedupByProduct, let key = keyOfProduct[transaction.productID], key != transaction.key,
      let other = try base.entry(key)
    {
      return .collapsed(other)
    }
    if plant == .evictsOldest { try evict(for: transaction, match, now: now) }
    let result = try base.enqueue(transaction, match, storeAccount: storeAccount, now: now)
    switch result {
    case .inserted(let entry):
      keyOfProduct[transaction.productID] = entry.key
      if plant == .enqueueNotDurable { disk.unwritten = entry.key }
    case .collapsed(var entry):
      guard plant == .redeliveryGoesLast else { break }
      entry.place += 1_000
      return .collapsed(entry)
    case .settled: break
    }
    return result
  }

  private func evict(
    for transaction: StoreTransaction, _ match: OrderMatch, now: Timestamp
  ) throws(QueueError) {
    guard try base.entry(transaction.key) == nil, try base.tombstone(transaction.key) == nil else { return }
    var oldest: Entry?
    var count = 0
    for lane in try base.lanes() {
      let entries = try base.readyEntries(in: lane, now: .distantFuture, limit: .max)
      count += entries.count
      for entry in entries where entry.place < oldest?.place ?? .max { oldest = entry }
    }
    guard count >= 2, let oldest else { return }
    _ = try base.acknowledge([SettledClaim(key: oldest.key, verdict: .lapsed)], now: now)
    try base.markSeen(oldest.key)
  }

  func isNews(_ transaction: StoreTransaction, since tombstone: Tombstone) throws(QueueError) -> Bool {
    try base.isNews(transaction, since: tombstone)
  }

  func enqueueUpdate(
    _ transaction: StoreTransaction, of tombstone: Tombstone, now: Timestamp
  ) throws(QueueError) -> Entry {
    flush()
    return try base.enqueueUpdate(transaction, of: tombstone, now: now)
  }

  func attach(_ proof: Proof, to key: EntryKey, now: Timestamp) throws(QueueError) {
    flush()
    try base.attach(proof, to: key, now: now)
  }

  // MARK: Lanes

  func lanes() throws(QueueError) -> [Lane] { try base.lanes() }

  func readyEntries(
    in lane: Lane, now: Timestamp, limit: Int, dueFirst: Bool
  ) throws(QueueError) -> [Entry] {
    guard plant == .newestFirst else {
      return try base.readyEntries(in: lane, now: now, limit: limit, dueFirst: dueFirst)
    }
    return Array(
      try base.readyEntries(in: lane, now: now, limit: .max, dueFirst: dueFirst).reversed().prefix(limit))
  }

  func nextReadyAt(in lane: Lane) throws(QueueError) -> Timestamp? { try base.nextReadyAt(in: lane) }
  func entry(_ key: EntryKey) throws(QueueError) -> Entry? { try base.entry(key) }

  func postpone(_ key: EntryKey, until: Timestamp, reason: String, now: Timestamp) throws(QueueError) {
    flush()
    try base.postpone(key, until: until, reason: reason, now: now)
  }

  func clampPostponed(to latest: Timestamp, now: Timestamp) throws(QueueError) {
    flush()
    if plant != .clampForgotten { try base.clampPostponed(to: latest, now: now) }
  }

  // MARK: Attempts

  func recordAttempt(_ keys: [EntryKey], keeping state: RetryState?, now: Timestamp) throws(QueueError) {
    if plant != .enqueueNotDurable { flush() }
    let isLost = plant == .budgetNotStored
    try base.recordAttempt(plant == .attemptNotStored ? [] : keys, keeping: isLost ? nil : state, now: now)
    if let state { known = state }
  }

  func retryState() throws(QueueError) -> RetryState {
    guard plant == .retryStateReadOnce else { return try base.retryState() }
    if let known { return known }
    let first = try base.retryState()
    known = first
    return first
  }

  func keep(_ state: RetryState, _ watches: [EntryKey: PoisonWatch], now: Timestamp) throws(QueueError) {
    flush()
    try base.keep(plant == .budgetNotStored ? try base.retryState() : state, watches, now: now)
    known = state
  }

  func watch(of key: EntryKey) throws(QueueError) -> PoisonWatch { try base.watch(of: key) }

  // MARK: Quarantine

  func quarantine(_ key: EntryKey, reason: String, now: Timestamp) throws(QueueError) -> Bool {
    flush()
    guard plant == .quarantineDeletes else { return try base.quarantine(key, reason: reason, now: now) }
    _ = try base.acknowledge([SettledClaim(key: key, verdict: .rejected)], now: now)
    return true
  }

  func release(_ key: EntryKey, until: Timestamp?, now: Timestamp) throws(QueueError) -> Bool {
    flush()
    return plant == .releasedNeverAgain ? false : try base.release(key, until: until, now: now)
  }

  func quarantined() throws(QueueError) -> [EntryKey] { try base.quarantined() }
  func hasQuarantined() throws(QueueError) -> Bool { try base.hasQuarantined() }
  func quarantineTrial() throws(QueueError) -> QuarantineTrial? { try base.quarantineTrial() }
  func keep(_ trial: QuarantineTrial) throws(QueueError) { try base.keep(trial) }

  // MARK: The end

  func binding(by orderNumber: String, of key: EntryKey) throws(QueueError) -> VerdictBinding {
    if plant == .bindsWhatItIsTold { return .bind(orderNumber: orderNumber) }
    return try base.binding(by: orderNumber, of: key)
  }

  func acknowledge(_ settled: [SettledClaim], now: Timestamp) throws(QueueError) -> [Tombstone] {
    flush()
    let tombstones = try base.acknowledge(settled, now: now)
    for tombstone in tombstones {
      if plant == .finishOwedForgotten { try base.markFinished(tombstone.key) }
      if plant == .unseenForgotten { try base.markSeen(tombstone.key) }
    }
    if plant == .acknowledgeInTwoCommits { disk.unburied = tombstones.map(\.key) }
    return tombstones
  }

  func tombstone(_ key: EntryKey) throws(QueueError) -> Tombstone? {
    disk.hidden.contains(key) ? nil : try base.tombstone(key)
  }

  func tombstonesWithDuties() throws(QueueError) -> [Tombstone] { try base.tombstonesWithDuties() }
  func storeAccount(of tombstone: Tombstone) throws(QueueError) -> String? {
    try base.storeAccount(of: tombstone)
  }
  func markFinished(_ key: EntryKey) throws(QueueError) {
    flush()
    try base.markFinished(key)
  }
  func markSeen(_ key: EntryKey) throws(QueueError) {
    flush()
    try base.markSeen(key)
  }

  // MARK: Updates that are owed

  func ledgerEpoch() throws(QueueError) -> String? { try base.ledgerEpoch() }
  func keepLedgerEpoch(_ epoch: String, offeringAgain: Bool) throws(QueueError) {
    try base.keepLedgerEpoch(epoch, offeringAgain: offeringAgain)
  }
  func oweUpdate(of key: EntryKey) throws(QueueError) { try base.oweUpdate(of: key) }

  func oweUpdate(_ transaction: StoreTransaction, now: Timestamp) throws(QueueError) {
    try base.oweUpdate(transaction, now: now)
  }
  func queueOwedUpdates(now: Timestamp) throws(QueueError) -> OwedUpdates {
    try base.queueOwedUpdates(now: now)
  }

  // MARK: Claims of what the device bought

  func deviceClaims() throws(QueueError) -> [DeviceClaimant] { try base.deviceClaims() }
  func keepClaim(of account: String) throws(QueueError) -> DeviceClaimant {
    guard plant == .claimNotStored else { return try base.keepClaim(of: account) }
    return DeviceClaimant(account: account, throughPlace: .max)
  }
  func deviceLaneHolds(throughPlace place: Int64) throws(QueueError) -> Bool {
    try base.deviceLaneHolds(throughPlace: place)
  }
  func endClaim(of account: String, throughPlace place: Int64) throws(QueueError) {
    try base.endClaim(of: account, throughPlace: place)
  }
}

extension PlantedStorage: MatchSource {
  /// Compared by product, the newest order that is open will do.
  func orderFacts(accountToken: UUID) throws(QueueError) -> OrderFacts? {
    let facts = try base.orderFacts(accountToken: accountToken)
    guard plant == .matchByProduct, let facts else { return facts }
    guard let newest = disk.newestTokens[facts.productID] else { return facts }
    return try base.orderFacts(accountToken: newest) ?? facts
  }
  func knownTransaction(_ key: EntryKey) throws(QueueError) -> KnownTransaction? {
    try base.knownTransaction(key)
  }
  func unboundOrders(_ query: OrderQuery) throws(QueueError) -> [OrderFacts] { try base.unboundOrders(query) }
  func hasSeveralAccounts(_ query: OrderQuery) throws(QueueError) -> Bool {
    try base.hasSeveralAccounts(query)
  }
}

extension Timestamp {
  fileprivate static var distantFuture: Timestamp { Timestamp(milliseconds: .max) }
}

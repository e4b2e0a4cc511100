import Foundation
import PurchaseQueue
import PurchaseSync

/// A storage with one planted bug.
final class PlantedStorage: ForwardingStorage {
  let base: any SyncStorage
  private var bug: MachineBug? { disk.bug }
  private let disk: PlantedDisk
  /// The retry state that this process read or wrote last.
  private var known: RetryState?
  private var keyOfProduct: [String: EntryKey] = [:]

  init(_ base: any SyncStorage, _ disk: PlantedDisk) {
    self.base = base
    self.disk = disk
  }

  func write<R>(_ call: () throws(QueueError) -> R) throws(QueueError) -> R {
    flush()
    return try call()
  }

  /// A further write also writes what an earlier one left out.
  private func flush() {
    disk.unwritten = nil
    disk.unburied = []
  }

  // MARK: Transactions

  func enqueue(
    _ transaction: StoreTransaction, _ match: OrderMatch, storeAccount: String?, now: Timestamp
  ) throws(QueueError) -> Enqueued {
    flush()
    if bug == .dedupByProduct, let key = keyOfProduct[transaction.productID], key != transaction.key,
      let other = try base.entry(key)
    {
      disk.deeds.note(transaction.key)
      return .collapsed(other)
    }
    if bug == .evictsOldest { try evict(for: transaction, match, now: now) }
    if bug == .unconfirmedBlock || bug == .reservationsBlock { try refuse(transaction) }
    if disk.ignoresLimit { try checkLimit(transaction) }
    if bug == .arrivalSoon { disk.promiseSoon(transaction.key) }
    let result = try base.enqueue(transaction, match, storeAccount: storeAccount, now: now)
    switch result {
    case .inserted(let entry):
      keyOfProduct[transaction.productID] = entry.key
      if bug == .enqueueNotDurable {
        disk.deeds.note(entry.key)
        disk.unwritten = entry.key
      }
    case .collapsed(var entry):
      guard bug == .redeliveryGoesLast else { break }
      disk.deeds.note(entry.key)
      entry.place += 1_000
      return .collapsed(entry)
    case .settled: break
    }
    return result
  }

  func isNews(_ transaction: StoreTransaction, since tombstone: Tombstone) throws(QueueError) -> Bool {
    let isNews = try base.isNews(transaction, since: tombstone)
    guard isNews, bug == .refundKnownByDate else { return isNews }
    var dated = transaction
    dated.refundedShare = nil
    let isNewByDate = try base.isNews(dated, since: tombstone)
    if !isNewByDate { disk.deeds.note(transaction.key) }
    return isNewByDate
  }

  /// Counts what takes no capacity.
  private func refuse(_ transaction: StoreTransaction) throws(QueueError) {
    if let token = transaction.accountToken { disk.unpaid.remove(token) }
    guard try base.entry(transaction.key) == nil, try base.tombstone(transaction.key) == nil else { return }
    var taken = try disk.entries(self).count { $0.state == .queued } + 1
    taken +=
      bug == .reservationsBlock
      ? disk.unpaid.count : try base.tombstonesWithDuties().count(where: \.isUnconfirmed)
    guard taken > disk.entries else { return }
    disk.deeds.note(transaction.key)
    throw .queueFull(.entries, needed: taken, allowed: disk.entries)
  }

  /// The limit that the storage below does not have.
  private func checkLimit(_ transaction: StoreTransaction) throws(QueueError) {
    guard try base.entry(transaction.key) == nil, try base.tombstone(transaction.key) == nil else { return }
    let needed = try disk.entries(self).count { $0.state == .queued } + 1
    guard needed > disk.entries else { return }
    if bug == nil { throw .queueFull(.entries, needed: needed, allowed: disk.entries) }
    disk.deeds.note(transaction.key)
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
    disk.deeds.note(oldest.key)
    _ = try base.acknowledge([SettledClaim(key: oldest.key, verdict: .lapsed)], now: now)
    try base.markConfirmed(oldest.key)
  }

  // MARK: Lanes

  func readyEntries(
    in lane: Lane, now: Timestamp, limit: Int, dueFirst: Bool
  ) throws(QueueError) -> [Entry] {
    guard bug == .newestFirst else {
      return try base.readyEntries(in: lane, now: now, limit: limit, dueFirst: dueFirst)
    }
    let newest = Array(
      try base.readyEntries(in: lane, now: now, limit: .max, dueFirst: dueFirst).reversed().prefix(limit))
    let right = try base.readyEntries(in: lane, now: now, limit: limit, dueFirst: dueFirst)
    if right.map(\.key) != newest.map(\.key) { newest.map(\.key).forEach(disk.deeds.note) }
    return newest
  }

  func changeWaits(
    in lanes: [Lane]?, keeping state: RetryState?, reason: String, now: Timestamp,
    _ change: (inout Wait) -> Void
  ) throws(QueueError) -> Set<Lane> {
    flush()
    let kept = try stored(state)
    if let state { known = state }
    guard bug == .clampForgotten else {
      return try base.changeWaits(in: lanes, keeping: kept, reason: reason, now: now, change)
    }
    if let state { try base.keep(state, [:], now: now) }
    for entry in try disk.entries(self) where entry.readyAt > now { disk.deeds.note(entry.key) }
    return []
  }

  // MARK: Attempts

  func recordAttempt(_ keys: [EntryKey], keeping state: RetryState?, now: Timestamp) throws(QueueError) {
    if bug != .enqueueNotDurable { flush() }
    let kept = try stored(state)
    if bug == .attemptNotStored { keys.forEach(disk.deeds.note) }
    try base.recordAttempt(bug == .attemptNotStored ? [] : keys, keeping: kept, now: now)
    if let state { known = state }
  }

  func retryState() throws(QueueError) -> RetryState {
    guard bug == .retryStateReadOnce else { return try base.retryState() }
    if let known {
      if try base.retryState() != known { disk.deeds.note() }
      return known
    }
    let first = try base.retryState()
    known = first
    return first
  }

  func keep(_ state: RetryState, _ watches: [EntryKey: PoisonWatch], now: Timestamp) throws(QueueError) {
    flush()
    let kept = try stored(state)
    try base.keep(kept == nil ? try base.retryState() : state, watches, now: now)
    known = state
  }

  /// The part of it that reaches the disk.
  private func stored(_ state: RetryState?) throws(QueueError) -> RetryState? {
    guard bug == .budgetNotStored, let state else { return state }
    if try base.retryState() != state { disk.deeds.note() }
    return nil
  }

  // MARK: Quarantine

  func quarantine(_ key: EntryKey, reason: String, now: Timestamp) throws(QueueError) -> Bool {
    flush()
    if bug == .grantedStaysUnknown, let tombstone = try base.tombstone(key) {
      disk.deeds.note(key)
      var claim = SettledClaim(key: key, verdict: tombstone.verdict)
      claim.keepsTombstone = true
      _ = try base.settle([claim], now: now)
      return true
    }
    guard bug == .quarantineDeletes else { return try base.quarantine(key, reason: reason, now: now) }
    disk.deeds.note(key)
    _ = try base.acknowledge([SettledClaim(key: key, verdict: .rejected)], now: now)
    return true
  }

  func release(_ key: EntryKey, _ wait: Wait?, now: Timestamp) throws(QueueError) -> Bool {
    flush()
    guard bug == .releasedNeverAgain else { return try base.release(key, wait, now: now) }
    disk.deeds.note(key)
    return false
  }

  // MARK: The end

  func binding(by orderNumber: String, of key: EntryKey) throws(QueueError) -> VerdictBinding {
    let right = try base.binding(by: orderNumber, of: key)
    guard bug == .bindsWhatItIsTold else { return right }
    let binding = VerdictBinding.bind(orderNumber: orderNumber)
    if right != binding { disk.deeds.note(key) }
    return binding
  }

  func settle(_ claims: [SettledClaim], now: Timestamp) throws(QueueError) -> SettledClaims {
    flush()
    var claims = claims
    if bug == .newerProofForgotten { try forgetSent(&claims) }
    if bug == .ownerNotStored { forgetOwners(&claims) }
    if bug == .verdictSoon, let first = claims.first { disk.promiseSoon(first.key) }
    let result = try base.settle(claims, now: now)
    for tombstone in result.tombstones {
      if bug == .pendingFinishForgotten, tombstone.isFinishPending { disk.deeds.note(tombstone.key) }
      if bug == .unconfirmedForgotten, tombstone.isUnconfirmed { disk.deeds.note(tombstone.key) }
      if bug == .pendingFinishForgotten { try base.markFinished(tombstone.key) }
      if bug == .unconfirmedForgotten { try base.markConfirmed(tombstone.key) }
    }
    if bug == .acknowledgeInTwoCommits {
      disk.unburied = result.tombstones.map(\.key)
      disk.unburied.forEach(disk.deeds.note)
    }
    return result
  }

  private func forgetSent(_ claims: inout [SettledClaim]) throws(QueueError) {
    for index in claims.indices {
      let entry = try base.entry(claims[index].key)
      if let entry, claims[index].hasPendingUpdate(of: entry) { disk.deeds.note(entry.key) }
      claims[index].sent = nil
    }
  }

  private func forgetOwners(_ claims: inout [SettledClaim]) {
    for index in claims.indices where claims[index].owner != nil {
      disk.deeds.note(claims[index].key)
      claims[index].owner = nil
    }
  }

  func tombstone(_ key: EntryKey) throws(QueueError) -> Tombstone? {
    disk.hidden.contains(key) ? nil : try base.tombstone(key)
  }

  func keepAdoption(of account: String) throws(QueueError) -> DeviceAdoption {
    guard bug == .adoptionNotStored else { return try base.keepAdoption(of: account) }
    disk.deeds.note()
    return DeviceAdoption(account: account, throughPlace: .max)
  }
}

extension PlantedStorage {
  /// `matchByProduct` returns the newest order of the product.
  func orders(_ query: TokenQuery) throws(QueueError) -> [OrderFacts] {
    let facts = try base.orders(query)
    guard bug == .matchByProduct, let first = facts.first else { return facts }
    guard let newest = disk.newestTokens[first.productID] else { return facts }
    if newest != query.token { disk.deeds.note() }
    var other = query
    other.token = newest
    let found = try base.orders(other)
    return found.isEmpty ? facts : found
  }
}

extension Timestamp {
  fileprivate static var distantFuture: Timestamp { Timestamp(milliseconds: .max) }
}

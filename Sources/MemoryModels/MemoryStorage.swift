import Foundation
package import PurchaseQueue
package import PurchaseSync

/// A queue in memory with the machine's storage protocol, for explorations and measurements without a disk.
///
/// It keeps the contract of the real file (`StorageContractTests`) except for bytes: it counts entries only, and stores
/// no proofs, only which of them are equal. One thread at a time may use it.
package final class MemoryStorage {
  /// The limits of entries, quarantine and tombstones; bytes have no limit here.
  package let limits: QueueLimits
  package var book = OrderBook()
  private var records: [EntryKey: Record] = [:]
  /// The last used record: the machine asks for the same one many times in a row.
  private var lastRecord: Record?
  /// Ordered by the text of the lane. There are few, and each event scans them.
  private(set) var lines: [Turns] = []
  /// The records with a tombstone, in the order of settling.
  private var buried: [Record] = []
  var retry = RetryState()
  var trial: TrialRecord?
  var epoch: String?
  var pending: [(key: EntryKey, news: StoreTransaction?)] = []
  var claims: [DeviceAdoption] = []
  /// The queued entries.
  private(set) var queuedCount = 0
  private(set) var quarantinedCount = 0
  private(set) var unconfirmedCount = 0
  /// Tombstones with a duty.
  private(set) var dutyCount = 0
  private(set) var lastPlace: Int64 = 0
  private var proofs: [Payload: Int64] = [:]
  private var lastProof: Int64 = 0

  /// All that is known of one transaction.
  final class Record {
    let key: EntryKey
    var entry: Entry?
    /// The entry's transaction.
    var said: Said?
    var watch = PoisonWatch()
    /// Of the last postponement.
    var wait: Wait?
    var tombstone: Tombstone?
    /// The settled entry's transaction.
    var settled: Said?

    init(_ key: EntryKey) { self.key = key }

    func copy() -> Record {
      let copy = Record(key)
      (copy.entry, copy.said, copy.watch, copy.wait) = (entry, said, watch, wait)
      (copy.tombstone, copy.settled) = (tombstone, settled)
      return copy
    }
  }

  /// The store's facts about a transaction.
  struct Said {
    var transaction: StoreTransaction
    var storeAccount: String?
  }

  /// The entries of one lane by place. Removed entries are skipped, and dropped at the front.
  final class Turns {
    private struct Turn {
      let record: Record
      let place: Int64
      /// False if the entry was removed, also if it was added again at another place.
      var isThere: Bool { record.entry?.place == place }
    }

    let lane: Lane
    private let text: String
    private var all: [Turn] = []
    private var start = 0

    init(_ lane: Lane) {
      self.lane = lane
      text = lane.rawValue
    }

    func isBefore(_ other: Turns) -> Bool { text.hasBytes(before: other.text) }

    func append(_ record: Record, at place: Int64) { all.append(Turn(record: record, place: place)) }

    func dropFront() {
      while start < all.count, !all[start].isThere { start += 1 }
      if start == all.count {
        all.removeAll(keepingCapacity: true)
        start = 0
      } else if start > 64, start > all.count / 2 {
        all.removeFirst(start)
        start = 0
      }
    }

    /// The records of the entries in their order, until `body` returns false.
    func forEach(_ body: (Record) -> Bool) {
      var index = start
      while index < all.count {
        if all[index].isThere, !body(all[index].record) { return }
        index += 1
      }
    }
  }

  package init(limits: QueueLimits = QueueLimits()) { self.limits = limits }

  /// An independent copy, for a backup.
  package func copy() -> MemoryStorage {
    let copy = MemoryStorage(limits: limits)
    (copy.book, copy.retry, copy.trial, copy.epoch) = (book, retry, trial, epoch)
    (copy.pending, copy.claims, copy.lastPlace) = (pending, claims, lastPlace)
    (copy.queuedCount, copy.quarantinedCount, copy.unconfirmedCount) = (
      queuedCount, quarantinedCount, unconfirmedCount
    )
    (copy.proofs, copy.lastProof, copy.dutyCount) = (proofs, lastProof, dutyCount)
    for (key, record) in records { copy.records[key] = record.copy() }
    copy.buried = buried.compactMap { copy.records[$0.key] }
    let placed = copy.records.values.filter { $0.entry != nil }
      .sorted { ($0.entry?.place ?? 0) < ($1.entry?.place ?? 0) }
    for record in placed {
      if let entry = record.entry { copy.turns(of: entry.lane).append(record, at: entry.place) }
    }
    return copy
  }

  /// Adds an order, as the journal does before the payment.
  package func insert(_ order: PurchaseOrder) {
    book.insert(
      OrderFacts(order, expiresAt: order.expiresAt, boundTo: nil), accountToken: order.accountToken)
  }

  /// Every entry, by place.
  package var allEntries: [Entry] { records.values.compactMap(\.entry).sorted { $0.place < $1.place } }

  /// Every tombstone, the oldest first.
  package var allTombstones: [Tombstone] { tombstones { _ in true } }

  func tombstones(where isAsked: (Tombstone) -> Bool) -> [Tombstone] {
    var found: [Tombstone] = []
    for record in buried {
      if let tombstone = record.tombstone, isAsked(tombstone) { found.append(tombstone) }
    }
    return found.sorted {
      $0.settledAt == $1.settledAt ? EntryKey.isBefore($0.key, $1.key) : $0.settledAt < $1.settledAt
    }
  }

  // MARK: Records

  func record(_ key: EntryKey) -> Record? {
    if let last = lastRecord, last.key == key { return last }
    guard let found = records[key] else { return nil }
    lastRecord = found
    return found
  }

  /// The record of an entry; throws without an entry.
  func recordOfEntry(_ key: EntryKey) throws(QueueError) -> Record {
    guard let record = record(key), record.entry != nil else { throw .unknownEntry(key) }
    return record
  }

  private func newRecord(_ key: EntryKey) -> Record {
    let record = Record(key)
    records[key] = record
    lastRecord = record
    return record
  }

  // MARK: Entries

  /// Throws if there is no capacity for one more entry.
  func checkCapacity() throws(QueueError) {
    let needed = queuedCount + 1
    guard needed <= limits.entries else {
      throw .queueFull(.entries, needed: needed, allowed: limits.entries)
    }
  }

  /// Adds an entry. The caller has checked the capacity.
  func insertEntry(
    _ key: EntryKey, lane: Lane, orderNumber: String?, proofs: [PayloadReference], said: Said, now: Timestamp
  ) -> Entry {
    lastPlace += 1
    queuedCount += 1
    let entry = Entry(
      place: lastPlace, key: key, lane: lane, orderNumber: orderNumber, details: "", payloads: proofs,
      now: now)
    let record = record(key) ?? newRecord(key)
    record.entry = entry
    record.said = said
    turns(of: lane).append(record, at: lastPlace)
    return entry
  }

  func line(_ lane: Lane) -> Turns? { lines.first { $0.lane == lane } }

  private func turns(of lane: Lane) -> Turns {
    if let known = line(lane) { return known }
    let new = Turns(lane)
    lines.insert(new, at: lines.firstIndex { new.isBefore($0) } ?? lines.count)
    return new
  }

  func set(_ state: Entry.State, of record: Record) {
    guard let old = record.entry?.state, old != state else { return }
    queuedCount += state == .queued ? 1 : -1
    quarantinedCount += state == .queued ? -1 : 1
    record.entry?.state = state
  }

  func reference(_ proof: Payload) -> PayloadReference {
    if let id = proofs[proof] { return PayloadReference(kind: proof.kind, id: id, size: proof.bytes.count) }
    // A dropped proof only gets a new id when it comes again.
    if proofs.count > 4_096 { proofs.removeAll(keepingCapacity: true) }
    lastProof += 1
    proofs[proof] = lastProof
    return PayloadReference(kind: proof.kind, id: lastProof, size: proof.bytes.count)
  }

  /// The newest of each kind.
  func exchange(_ known: [PayloadReference], for proof: Payload) -> [PayloadReference] {
    (known.filter { $0.kind != proof.kind } + [reference(proof)]).sorted { $0.kind < $1.kind }
  }

  // MARK: Tombstones

  /// Replaces the entry by a tombstone, which takes over the duties of an earlier one.
  func bury(_ record: Record, _ entry: Entry, _ settlement: Settlement, now: Timestamp) -> Tombstone {
    var tombstone = Tombstone(entry, settlement, note: nil, now: now)
    if let earlier = record.tombstone {
      tombstone.isFinishPending = tombstone.isFinishPending || earlier.isFinishPending
      if earlier.isUnconfirmed { unconfirmedCount -= 1 }
    }
    if entry.state == .queued { queuedCount -= 1 } else { quarantinedCount -= 1 }
    if tombstone.isUnconfirmed { unconfirmedCount += 1 }
    if record.tombstone?.hasDuties == true { dutyCount -= 1 }
    if tombstone.hasDuties { dutyCount += 1 }
    if record.tombstone == nil { buried.append(record) }
    record.entry = nil
    record.tombstone = tombstone
    record.settled = record.said
    record.said = nil
    record.watch = PoisonWatch()
    line(entry.lane)?.dropFront()
    if buried.count > limits.tombstones { dropTombstones() }
    return tombstone
  }

  /// Drops more than needed, so that not every acknowledgement scans for the oldest.
  private func dropTombstones() {
    var excess = buried.count - limits.tombstones + limits.tombstones / 16
    buried.removeAll { record in
      guard excess > 0, record.tombstone?.hasDuties != true else { return false }
      excess -= 1
      forget(record)
      return true
    }
    lastRecord = nil
  }

  private func forget(_ record: Record) {
    record.tombstone = nil
    record.settled = nil
    guard record.entry == nil else { return }
    records[record.key] = nil
    book.forget(record.key)
  }

  /// The oldest unconfirmed outcomes count as seen while there are too many.
  func forgetOldOutcomes() throws(QueueError) {
    guard unconfirmedCount > limits.unconfirmedOutcomes else { return }
    for record in buried
    where unconfirmedCount > limits.unconfirmedOutcomes && record.tombstone?.isUnconfirmed == true {
      try changeDuties(record.key) { $0.isUnconfirmed = false }
    }
  }

  func changeDuties(_ key: EntryKey, _ change: (inout Tombstone) -> Void) throws(QueueError) {
    guard let record = record(key), let old = record.tombstone else { throw .unknownEntry(key) }
    var tombstone = old
    change(&tombstone)
    if old.isUnconfirmed, !tombstone.isUnconfirmed { unconfirmedCount -= 1 }
    if old.hasDuties, !tombstone.hasDuties { dutyCount -= 1 }
    record.tombstone = tombstone
    guard tombstone != old, !tombstone.hasDuties, key.leavesNoTombstone else { return }
    buried.removeAll { $0 === record }
    forget(record)
    lastRecord = nil
  }
}

extension Tombstone {
  fileprivate var hasDuties: Bool { isFinishPending || isUnconfirmed }
}

import Foundation
package import PurchaseQueue
package import PurchaseSync

/// A queue in memory behind the machine's storage protocol: for explorations and measurements without a disk.
///
/// Keeps the contract that the real file keeps (`StorageContractTests`), but for bytes: it counts entries only, and
/// holds no proofs, just which of them are the same. Belongs to one thread at a time.
package final class MemoryStorage {
  /// Entries and quarantine are bounded by it; the bytes are not.
  package let limits: QueueLimits
  package var book = OrderBook()
  var entries: [EntryKey: Entry] = [:]
  /// What was said of an entry, and of the tombstone that it became.
  var details: [EntryKey: TransactionDetails] = [:]
  private(set) var turns: [Lane: Turns] = [:]
  var tombstones: [EntryKey: Tombstone] = [:]
  /// Those with a duty, in the order in which they were settled.
  var duties: [EntryKey] = []
  var watches: [EntryKey: PoisonWatch] = [:]
  var retry = RetryState()
  var trial: QuarantineTrial?
  var epoch: String?
  var owed: [(key: EntryKey, details: TransactionDetails?)] = []
  var claims: [DeviceClaimant] = []
  var quarantinedKeys: Set<EntryKey> = []
  private var lastPlace: Int64 = 0
  private var proofs: [Proof: Int64] = [:]

  /// The entries of one lane by place: those that have left are passed over, and forgotten at the front.
  struct Turns {
    private(set) var keys: [EntryKey] = []
    private(set) var start = 0

    mutating func append(_ key: EntryKey) { keys.append(key) }

    mutating func dropFront(while isGone: (EntryKey) -> Bool) {
      while start < keys.count, isGone(keys[start]) { start += 1 }
      guard start > 64, start > keys.count / 2 else { return }
      keys.removeFirst(start)
      start = 0
    }

    var isEmpty: Bool { start == keys.count }
    var rest: ArraySlice<EntryKey> { keys[start...] }
  }

  /// An empty one.
  package init(limits: QueueLimits = QueueLimits()) { self.limits = limits }

  /// Adds an order, as the journal does before anybody pays.
  package func insert(_ order: Order) {
    book.insert(
      OrderFacts(order, expiresAt: order.expiresAt, boundTo: nil), accountToken: order.accountToken)
  }

  /// The entries that take their turn.
  var queuedCount: Int { entries.count - quarantinedKeys.count }

  /// Every entry, by place.
  package var allEntries: [Entry] { entries.values.sorted { $0.place < $1.place } }

  func insertEntry(
    _ key: EntryKey, lane: Lane, orderNumber: String?, proofs: [Proof], now: Timestamp
  ) throws(QueueError) -> Entry {
    guard queuedCount < limits.entries else {
      throw .queueFull(.entries, needed: queuedCount + 1, allowed: limits.entries)
    }
    lastPlace += 1
    let entry = Entry(
      place: lastPlace, key: key, lane: lane, orderNumber: orderNumber, details: "",
      proofs: proofs.map { reference($0) }, now: now)
    entries[key] = entry
    turns[lane, default: Turns()].append(key)
    return entry
  }

  func reference(_ proof: Proof) -> ProofReference {
    let id = proofs[proof] ?? Int64(proofs.count + 1)
    if proofs.count > 4_096 { proofs = [:] }
    proofs[proof] = id
    return ProofReference(kind: proof.kind, id: id, size: proof.bytes.count)
  }

  /// The newest of each kind.
  func exchange(_ known: [ProofReference], for proof: Proof) -> [ProofReference] {
    (known.filter { $0.kind != proof.kind } + [reference(proof)]).sorted { $0.kind < $1.kind }
  }

  func removeEntry(_ key: EntryKey) {
    guard let entry = entries.removeValue(forKey: key) else { return }
    quarantinedKeys.remove(key)
    trim(entry.lane)
  }

  private func trim(_ lane: Lane) {
    turns[lane]?.dropFront { entries[$0] == nil }
    if turns[lane]?.isEmpty == true { turns[lane] = nil }
  }

  func change(_ key: EntryKey, _ change: (inout Entry) -> Void) throws(QueueError) {
    guard var entry = entries[key] else { throw .unknownEntry(key) }
    change(&entry)
    entries[key] = entry
  }
}

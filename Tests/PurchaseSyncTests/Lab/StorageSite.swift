import Foundation
import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The implementations of the machine's storage protocol.
enum StorageKind: String, CaseIterable, Sendable {
  case file, memory
}

/// One storage for the time of a test, with calls to fill it.
final class StorageSite {
  private(set) var storage: any SyncStorage
  /// Nil for the memory storage.
  private var file: SyncFile?
  private let path: String
  private let limits: QueueLimits

  private init(_ kind: StorageKind, _ directory: String, _ limits: QueueLimits) throws {
    path = directory + "/q"
    self.limits = limits
    switch kind {
    case .file:
      let file = try SyncFile(queue: QueueFile(path: path, limits: limits, now: midday))
      self.file = file
      storage = file
    case .memory: storage = MemoryStorage(limits: limits)
    }
  }

  /// Creates an empty storage. A file is in a directory of its own, which is removed with it.
  static func with(
    _ kind: StorageKind, limits: QueueLimits = QueueLimits(), _ body: (StorageSite) throws -> Void
  ) throws {
    let directory = FileManager.default.temporaryDirectory.path + "/StorageSite-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer {
      do { try FileManager.default.removeItem(atPath: directory) } catch { Issue.record(error) }
    }
    try body(StorageSite(kind, directory, limits))
  }

  /// The state after a kill. The memory storage stays the same.
  func reopen() throws {
    guard file != nil else { return }
    file = nil
    storage = MemoryStorage()
    let again = try SyncFile(queue: QueueFile(path: path, limits: limits, now: midday))
    file = again
    storage = again
  }

  /// Adds an order with the token of its number.
  func addOrder(_ number: UInt8, account: String = "alice", product: String = "gems") throws {
    let document = OrderDocument(
      number: String(number), accountToken: orderToken(number), productID: product, quantity: 1, state: .open,
      createdAt: midday.adding(milliseconds: -60_000))
    if let file {
      try file.take([document], account: account)
      return
    }
    let memory = try #require(storage as? MemoryStorage)
    memory.insert(PurchaseOrder(document, account: account))
  }

  /// Matches and enqueues, like the machine.
  @discardableResult func enqueue(
    _ transaction: StoreTransaction, from storeAccount: String? = nil, at moment: Timestamp = midday
  ) throws -> Enqueued {
    let match = try OrderMatcher.match(transaction, from: storage)
    return try storage.enqueue(transaction, match, storeAccount: storeAccount, now: moment)
  }

  @discardableResult func settle(
    _ id: String, _ verdict: Verdict = .granted, order: String? = nil, at moment: Timestamp = midday
  ) throws -> Tombstone? {
    let claim = SettledClaim(key: key(id), verdict: verdict, orderNumber: order)
    return try storage.acknowledge([claim], now: moment).first
  }

  func readyIDs(_ lane: Lane, at moment: Timestamp = midday, limit: Int = 100) throws -> [String] {
    try storage.readyEntries(in: lane, now: moment, limit: limit).map(\.key.id)
  }

  // MARK: Comparing

  /// Everything that the protocol says about these transactions and orders, as text.
  func snapshot(_ ids: [String], orders: [UInt8] = []) throws -> [String] {
    var lines: [String] = []
    var proofs: [Int64: Int] = [:]
    for id in ids {
      if let entry = try storage.entry(key(id)) {
        var line =
          "entry \(entry.place) \(id) \(entry.lane.rawValue) \(entry.orderNumber ?? "-") \(entry.state)"
        line += " \(entry.reason ?? "-") \(entry.enqueuedAt) \(entry.attempts) \(entry.readyAt)"
        line += " \(entry.attemptedAt.map(\.description) ?? "-")"
        for proof in entry.payloads {
          // Only equality of the places matters, not their numbers.
          let number = proof.id.map { id in
            if proofs[id] == nil { proofs[id] = proofs.count }
            return String(proofs[id] ?? 0)
          }
          line += " \(proof.kind) \(number ?? "-") \(proof.size)"
        }
        lines.append(line)
      }
      let watch = try storage.watch(of: key(id))
      if watch != PoisonWatch() { lines.append("watch \(id) \(watch)") }
      let known = try storage.knownTransaction(key(id))
      if let known { lines.append("known \(id) \(known.lane.rawValue) \(known.orderNumber ?? "-")") }
      guard let tombstone = try storage.tombstone(key(id)) else { continue }
      var line =
        "tombstone \(id) \(tombstone.lane.rawValue) \(tombstone.orderNumber ?? "-") \(tombstone.outcome)"
      line += " \(tombstone.settledAt) \(tombstone.enqueuedAt) \(tombstone.attempts)"
      line += " \(tombstone.isFinishPending) \(tombstone.isUnconfirmed)"
      line += " \(try storage.storeAccount(of: tombstone) ?? "-")"
      lines.append(line)
    }
    lines.append("duties \(try storage.tombstonesWithDuties().map(\.key.id))")
    lines.append("quarantined \(try storage.quarantined().map(\.id))")
    for lane in try storage.lanes() {
      let next = try storage.nextReadyAt(in: lane)
      lines.append(
        "lane \(lane.rawValue) \(try readyIDs(lane, at: .distantFuture)) \(next?.description ?? "-")")
    }
    for number in orders {
      let facts = try storage.orderFacts(accountToken: orderToken(number))
      lines.append("order \(number) \(facts?.state.rawValue ?? "-") \(facts?.boundTo?.id ?? "-")")
    }
    lines.append("retry \(try storage.retryState())")
    lines.append("trial \(String(describing: try storage.quarantineTrial()))")
    lines.append("epoch \(try storage.ledgerEpoch() ?? "-")")
    lines.append("claims \(try storage.deviceAdoptions())")
    return lines
  }
}

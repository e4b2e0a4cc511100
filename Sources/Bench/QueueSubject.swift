import Foundation
import PurchaseQueue
import PurchaseSync

/// The queue, as the bench uses it.
final class QueueSubject: BenchSubject {
  /// The table with the records of acknowledged entries.
  static let tombstoneTable = "tombstones"

  static let limits = QueueLimits(entries: 200_000, totalBytes: 4 << 30, payloadBytes: 1 << 20)
  private static let kind = "jws"

  private var file: QueueFile?
  /// Makes keys unique, also among several openings and processes.
  private let namespace = "sandbox/" + UUID().uuidString.prefix(8)
  private var serial = 1_000_000

  init(
    path: String, vault: String? = nil, changes: (@Sendable (QueueChange) -> Void)? = nil
  ) throws {
    var setup = QueueSetup(
      path: path, limits: Self.limits, vault: vault.map { DirectoryVault(directory: $0) })
    setup.changes = changes
    file = try QueueFile(setup, now: Timestamp(milliseconds: 1_750_000_000_000))
  }

  func enqueue(_ payload: [UInt8]) throws {
    serial += 1
    let entry = NewEntry(
      key: EntryKey(rawValue: namespace + String(serial)), lane: .device,
      payloads: [Payload(kind: Self.kind, bytes: payload)])
    let result = try open().enqueue(entry, now: now)
    guard case .inserted = result else { throw BenchError.notInserted("\(result)") }
  }

  /// The first payload.
  @discardableResult
  func peek() throws -> [UInt8] {
    guard let head = try open().peek(.device), let proof = head.payloads.first else {
      throw BenchError.emptyQueue
    }
    return proof.bytes
  }

  func acknowledge() throws {
    guard let head = try open().peek(.device), !head.payloads.isEmpty else { throw BenchError.emptyQueue }
    try settle([head.entry])
  }

  /// The first entries, to be acknowledged.
  func heads(_ count: Int) throws -> [Entry] {
    let heads = try open().entries(in: .device, limit: count)
    guard heads.count == count else { throw BenchError.emptyQueue }
    return heads
  }

  /// Removes entries in one commit.
  func acknowledge(_ entries: [Entry]) throws { try settle(entries) }

  func count() throws -> Int { try open().count() }

  /// The maintenance that an owner does when it is idle.
  func maintain() throws { try open().maintain(now: now) }

  func close() { file = nil }

  /// Fills it up to a length.
  func fill(to length: Int, from payloads: inout Payloads) throws {
    while try count() < length { try enqueue(payloads.next()) }
  }

  private var now: Timestamp { Timestamp(milliseconds: 1_750_000_000_000 + Int64(serial)) }

  private func open() throws -> QueueFile {
    guard let file else { throw BenchError.emptyQueue }
    return file
  }

  private func settle(_ entries: [Entry]) throws {
    let settlements = entries.map { Settlement($0, outcome: "granted") }
    let tombstones = try open().acknowledge(settlements, now: now)
    guard tombstones.count == entries.count else { throw BenchError.emptyQueue }
  }
}

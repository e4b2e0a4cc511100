import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import TestSupport
import Testing

@testable import PurchaseSyncTesting

/// The data that survives when the process is killed.
struct BackendStoreTests {
  private struct Refusal: Error {}

  /// The files on disk at this moment: a killed process leaves them so.
  private func diskImage(of path: String, in directory: TemporaryDirectory, _ name: String) throws -> String {
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: directory.path(name) + suffix)
    }
    return directory.path(name)
  }

  private func open(_ path: String, seed: UInt64 = 3) throws -> BackendStore {
    try BackendStore(path: path, bundleID: Sample.bundleID, seed: seed)
  }

  /// One of every kind of write, each in a request of its own.
  private func story() throws -> [[BackendWrite]] {
    var backend = BackendFixture()
    let device = UUID()
    let order = try backend.model.createOrder(
      OrderRequest(productID: "coins", quantity: 1), account: "alice", idempotencyKey: "k", now: Sample.now,
      expiresAt: Sample.now.adding(milliseconds: 9))
    var story = [order.writes]
    let records = [
      Sample.record("1", token: order.order.accountToken), Sample.record("2"),
      Sample.record("3", expiresAt: Sample.now.adding(milliseconds: 5), environment: .xcode),
    ]
    _ = try backend.upload(Sample.claim(for: records[0]), holding: records, as: .account("bob"))
    story.append(backend.lastWrites)
    _ = try backend.upload(Sample.claim(for: records[2]), holding: records, as: .device(device))
    story.append(backend.lastWrites)
    story.append(backend.model.adoptDevice(device, for: "alice", now: Sample.now))
    story.append(backend.model.reverse(TransactionKey(records[0]), at: Sample.now))
    _ = try backend.upload(Sample.claim(for: records[1]), answer: .forged)
    story.append(backend.lastWrites)
    return story
  }

  @Test func `after every request the disk image of a killed process has exactly the answered changes`()
    throws
  {
    let directory = try TemporaryDirectory()
    let path = directory.path("backend.sqlite")
    let store = try open(path)
    for (index, writes) in try story().enumerated() {
      #expect(!writes.isEmpty)
      try store.change { model in
        for write in writes { model.apply(write) }
        return writes
      }
      let image = try open(try diskImage(of: path, in: directory, "image-\(index)"), seed: 99)
      #expect(try image.model() == store.model())
    }
  }

  @Test func `an opened file keeps its seed and never repeats a token`() throws {
    let directory = try TemporaryDirectory()
    var tokens: Set<UUID> = []
    for index in 0..<5 {
      let store = try open(directory.path("backend.sqlite"), seed: UInt64(index))
      let order = try store.perform { model in
        let outcome = try model.createOrder(
          OrderRequest(productID: "coins", quantity: 1), account: "a", idempotencyKey: "\(index)",
          now: Sample.now)
        return (outcome.order, outcome.writes)
      }
      tokens.insert(order.accountToken)
      #expect(try store.model().seed == 0)
    }
    #expect(tokens.count == 5)
  }

  @Test func `a request that fails changes neither file nor model`() throws {
    let directory = try TemporaryDirectory()
    let store = try open(directory.path("backend.sqlite"))
    let before = try store.model()
    #expect(throws: Refusal.self) {
      try store.change { model in
        model.apply(.reversal(Reversal(transaction: TransactionKey(Sample.record()), at: Sample.now)))
        throw Refusal()
      }
    }
    #expect(try store.model() == before)
  }

  @Test func `the ledger on disk takes the same credit twice, so that doubling can be seen`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("backend.sqlite")
    let store = try open(path)
    let credit = Credit(
      sequence: 1, transaction: TransactionKey(Sample.record()), orderNumber: nil, owner: .account("a"),
      productID: "coins", quantity: 1, cause: .granted, at: Sample.now)
    try store.change { model in
      let writes = [BackendWrite.credit(credit), .credit(credit)]
      for write in writes { model.apply(write) }
      return writes
    }
    #expect(try open(path).model().doubledCredits == 1)
  }

  @Test func `a file that is no database is refused and not changed`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("backend.sqlite")
    let bytes = Data("not a database, and longer than a header: ".utf8) + Data(repeating: 7, count: 4096)
    try bytes.write(to: URL(filePath: path))
    #expect(throws: BackendStoreError.self) { try open(path) }
    #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
  }
}

import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The engine's tables in the queue's file: newer versions, and damage.
@Suite struct JournalSchemaTests {
  private func withPath(_ body: (String) throws -> Void) throws {
    let directory = FileManager.default.temporaryDirectory.path + "/JournalSchema-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer {
      do { try FileManager.default.removeItem(atPath: directory) } catch { Issue.record(error) }
    }
    try body(directory + "/q")
  }

  private func open(_ path: String) throws -> SyncFile {
    try SyncFile(queue: QueueFile(path: path, now: midday))
  }

  /// Opens like the engine: the call that finds the damage fails, and the next call opens the file again.
  private func asEngine(_ path: String, _ body: (SyncFile) throws(QueueError) -> Void) throws {
    for attempt in 1...3 {
      do throws(QueueError) {
        try body(try SyncFile(queue: QueueFile(path: path, now: midday)))
        return
      } catch {
        guard error.asksForReopening, attempt < 3 else { throw error }
      }
    }
  }

  @Test func `the engine starts again after the loss of any page`() throws {
    try withPath { path in
      let queue = try QueueFile(path: path, now: midday)
      let file = try SyncFile(queue: queue)
      let asked = try file.request(
        account: "alice", product: "gems", quantity: 1, proposing: "asked", waiting: [], now: midday)
      let document = OrderDocument(
        number: "1", accountToken: orderToken(1), productID: "gems", quantity: 1, state: .open,
        createdAt: midday)
      _ = try file.save(document, account: "alice", answering: asked, now: midday)
      let details = try TransactionDetails(bought("100")).text()
      _ = try queue.enqueue(
        NewEntry(key: key("100"), lane: alice, details: details, payloads: [bought("100").proof]), now: midday
      )
      try queue.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      let proof = bought("200").proof
      let whole = try Data(contentsOf: URL(fileURLWithPath: path))
      for start in stride(from: 0, to: whole.count, by: 1_024) {
        let damaged = path + "-\(start)"
        var data = whole
        data.replaceSubrange(start..<start + 1_024, with: Data(repeating: 0xA5, count: 1_024))
        try data.write(to: URL(fileURLWithPath: damaged))
        // For any lost page: a purchase can be taken over again, and another one begun.
        try asEngine(damaged) { (file) throws(QueueError) in
          _ = try file.queue.enqueue(
            NewEntry(key: key("200"), lane: alice, details: details, payloads: [proof]), now: midday)
          _ = try file.request(
            account: "alice", product: "gems", quantity: 1, proposing: "again", waiting: [], now: midday)
        }
      }
    }
  }

  private func count(_ table: String, in path: String) throws -> Int64? {
    try QueueFile(path: path, now: midday).connection.prepare("SELECT count(*) FROM \(table)").first {
      $0.integer(0)
    }
  }

  @Test func `tables of a newer version are refused and not changed`() throws {
    try withPath { path in
      _ = try open(path)
      let newer = JournalSchema.version + 1
      try QueueFile(path: path, now: midday).setFact("orders.version", String(newer))
      let refusal = QueueError.newerSchema(
        path: path, found: Int(newer), supported: Int(JournalSchema.version))
      #expect(throws: refusal) { try open(path) }
      #expect(try count("orders", in: path) == 0)
    }
  }

  @Test(arguments: [
    "product='coins'", "account='mallory'", "quantity=2", "bound_to='Production/1'", "checksum=checksum+1",
    "account_token='no UUID'",
  ])
  func `a damaged order counts as absent, and the others stay`(damage: String) throws {
    try withPath { path in
      let file = try open(path)
      let documents = [1, 2].map { (number: UInt8) in
        OrderDocument(
          number: String(number), accountToken: orderToken(number), productID: "gems", quantity: 1,
          state: .open, createdAt: midday)
      }
      try file.take(documents, account: "alice")
      try file.queue.connection.execute("UPDATE orders SET \(damage) WHERE number='1'")
      #expect(try file.orderFacts(accountToken: orderToken(1)) == nil)
      #expect(try file.journal.orders().map(\.order.number) == ["2"])
      #expect(try file.knownTransaction(key("1")) == nil)
      // The backend knows the order. Fetched again, it is whole.
      try file.take(documents, account: "alice")
      #expect(try file.orderFacts(accountToken: orderToken(1))?.account == "alice")
    }
  }

  // MARK: Notes of an entry

  /// A file with one entry that has failed and waits.
  private func withFailedEntry(_ body: (String, SyncFile, PoisonWatch, Wait) throws -> Void) throws {
    try withPath { path in
      let file = try open(path)
      let match = try OrderMatcher.match(bought("100"), from: file)
      _ = try file.enqueue(bought("100"), match, storeAccount: nil, now: midday)
      var watch = PoisonWatch()
      watch.failed(among: 10, now: midday)
      let wait = Wait(.backoff, began: midday, milliseconds: 60_000, asked: 1_000)
      try file.keep(RetryState(), [key("100"): watch], now: midday)
      try file.postpone(key("100"), wait, reason: "down", now: midday)
      try body(path, file, watch, wait)
    }
  }

  @Test func `a salvage keeps an entry's failures, and what the backend asked for`() throws {
    try withFailedEntry { path, _, watch, wait in
      try Data().write(to: URL(fileURLWithPath: path + "-damage"))
      let file = try open(path)
      #expect(file.queue.salvage?.entries == 1)
      #expect(try file.watch(of: key("100")) == watch)
      #expect(try file.wait(of: key("100")) == wait)
    }
  }

  @Test func `what failed before an entry was discarded says nothing of its update`() throws {
    try withFailedEntry { _, file, _, _ in
      _ = try file.queue.discard(key("100"), by: "anna", reason: "a test", now: midday)
      let tombstone = try #require(try file.queue.tombstone(key("100")))
      _ = try file.enqueueUpdate(bought("100"), of: tombstone, now: midday)
      #expect(try file.watch(of: key("100")) == PoisonWatch())
      #expect(try file.wait(of: key("100")) == nil)
    }
  }

  @Test func `notes are kept of entries alone, and a wait leaves the failures as they are`() throws {
    try withFailedEntry { _, file, watch, _ in
      try file.keep(RetryState(), [key("999"): watch], now: midday)
      #expect(try file.watch(of: key("999")) == PoisonWatch())
      try file.postpone(
        key("100"), Wait(.poison, began: midday, milliseconds: 5_000), reason: "", now: midday)
      #expect(try file.watch(of: key("100")) == watch)
      try file.keep(RetryState(), [key("100"): PoisonWatch()], now: midday)
      #expect(try file.wait(of: key("100"))?.cause == .poison)
      #expect(try file.queue.entry(key("100"))?.notes?.contains("failedRounds") == false)
    }
  }
}

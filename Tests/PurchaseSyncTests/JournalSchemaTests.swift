import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The engine's tables beside the queue's, as earlier versions left them, and damaged.
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

  /// Version 1, as it was: three orders, of which one is paid and queued and one is settled, and an open request.
  private func makeVersion1(at path: String) throws {
    let queue = try QueueFile(path: path, now: midday)
    try queue.connection.execute(
      """
      CREATE TABLE orders(
        number TEXT PRIMARY KEY,
        account_token TEXT NOT NULL UNIQUE,
        account TEXT NOT NULL,
        product TEXT NOT NULL,
        quantity INTEGER NOT NULL,
        state TEXT NOT NULL,
        created_at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE order_requests(
        idempotency_key TEXT PRIMARY KEY,
        account TEXT NOT NULL,
        product TEXT NOT NULL,
        quantity INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      INSERT INTO companions VALUES('orders', 1);
      INSERT INTO orders VALUES
        ('1', '\(orderToken(1).uuidString)', 'alice', 'gems', 1, 'paid', \(midday.milliseconds)),
        ('2', '\(orderToken(2).uuidString)', 'alice', 'gems', 1, 'delivered', \(midday.milliseconds)),
        ('3', '\(orderToken(3).uuidString)', 'bob', 'coins', 2, 'open', \(midday.milliseconds));
      INSERT INTO order_requests VALUES('asked', 'alice', 'gems', 1);
      """)
    for (id, order) in [("100", "1"), ("101", "2")] {
      let details = try TransactionDetails(bought(id)).text()
      let new = NewEntry(
        key: key(id), lane: alice, orderNumber: order, details: details, proofs: [bought(id).proof])
      _ = try queue.enqueue(new, now: midday)
    }
    try queue.acknowledge([Settlement(key: key("101"))], now: midday)
  }

  /// As the engine does: what finds out that the file is damaged fails, and the next call opens it anew.
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

  @Test func `there is no page whose loss keeps the engine from starting for ever`() throws {
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
        NewEntry(key: key("100"), lane: alice, details: details, proofs: [bought("100").proof]), now: midday)
      try queue.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      let proof = bought("200").proof
      let whole = try Data(contentsOf: URL(fileURLWithPath: path))
      for start in stride(from: 0, to: whole.count, by: 1_024) {
        let damaged = path + "-\(start)"
        var data = whole
        data.replaceSubrange(start..<start + 1_024, with: Data(repeating: 0xA5, count: 1_024))
        try data.write(to: URL(fileURLWithPath: damaged))
        // Whatever was in that page: a purchase can be taken over again, and another one begun.
        try asEngine(damaged) { (file) throws(QueueError) in
          _ = try file.queue.enqueue(
            NewEntry(key: key("200"), lane: alice, details: details, proofs: [proof]), now: midday)
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

  @Test func `a file of version 1 keeps its orders, and they are bound to what named them`() throws {
    try withPath { path in
      try makeVersion1(at: path)
      for _ in 0..<2 {
        let file = try open(path)
        let rows = try file.journal.orders()
        #expect(rows.map(\.order.number) == ["1", "2", "3"])
        #expect(rows.map(\.boundTo) == [key("100"), key("101"), nil])
        #expect(rows.map(\.order.state) == [.paid, .delivered, .open])
        #expect(rows.map(\.order.expiresAt) == [nil, nil, nil])
        #expect(try file.orderFacts(accountToken: orderToken(3))?.account == "bob")
        #expect(try file.entry(key("100"))?.orderNumber == "1")
      }
      let asked = try open(path).journal.request(
        account: "alice", product: "gems", quantity: 1, proposing: "new", waiting: [])
      #expect(asked == "asked")
    }
  }

  @Test func `an obstacle to the migration leaves version 1 as it was`() throws {
    try withPath { path in
      try makeVersion1(at: path)
      try QueueFile(path: path, now: midday).connection.execute("CREATE TABLE orders_1(x)")
      #expect(throws: QueueError.self) { try open(path) }
      #expect(try count("orders", in: path) == 3)
      #expect(try count("companions WHERE name='orders' AND version=1", in: path) == 1)
      try QueueFile(path: path, now: midday).connection.execute("DROP TABLE orders_1")
      #expect(try open(path).journal.orders().count == 3)
    }
  }

  @Test func `tables of a newer version are refused and left alone`() throws {
    try withPath { path in
      _ = try open(path)
      let newer = JournalSchema.version + 1
      try QueueFile(path: path, now: midday).connection.execute(
        "UPDATE companions SET version=\(newer) WHERE name='orders'")
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
  func `a damaged order counts as absent, and costs no other`(damage: String) throws {
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
      // The backend knows the order: fetched again, it is whole.
      try file.take(documents, account: "alice")
      #expect(try file.orderFacts(accountToken: orderToken(1))?.account == "alice")
    }
  }
}

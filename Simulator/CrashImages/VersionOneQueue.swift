import FaultInjection
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// A file as the first versions of the schema and of the journal made it: an entry in its lane, one in quarantine, a
/// settled one with its duties, and an order that nobody has paid.
enum VersionOneQueue {
  static let orders: Set = ["order-1", "order-2", "order-3", "order-4"]
  static var settled: Set<EntryKey> { [ImageWorld.transaction(3).key] }
  /// What the store does not deliver again: nothing yet.
  static let finished: Set<EntryKey> = []

  /// Returns what was paid, with the order of each.
  static func make(at path: String) throws -> [EntryKey: String?] {
    let connection = try Connection(path: path)
    try connection.execute(FirstSchema.newFile)
    try connection.execute(FirstSchema.orders + orderRequests)
    let transactions = (1...3).map { ImageWorld.transaction($0) }
    let noon = ImageWorld.noon.milliseconds
    for (index, transaction) in transactions.enumerated() {
      let details = try TransactionDetails(transaction).text()
      let key = transaction.key.rawValue
      let number = Int64(index + 1)
      if index == 2 {
        try connection.prepare("INSERT INTO tombstones VALUES(?,?,?,?,?,?,?,?,?)").run([
          .text(key), .text("account:alice"), .text("order-3"), .text("granted"), .text(details),
          .integer(noon), .integer(1), .integer(1), .integer(number),
        ])
        continue
      }
      let bytes = transaction.proof.bytes
      try connection.prepare("INSERT INTO proofs VALUES(?,?,?,?)").run([
        .integer(number), .integer(Checksum.of(bytes)), .integer(Int64(bytes.count)), .bytes(bytes),
      ])
      try connection.prepare("INSERT INTO entries VALUES(?,?,?,?,?,?,?,?,?,?,?,?)").run([
        .integer(number), .text(key), .text("account:alice"), .text("order-\(number)"), .text(details),
        .text(index == 0 ? "queued" : "quarantined"), .integer(noon), .integer(0), .null, .integer(noon),
        .integer(0), .integer(number),
      ])
      try connection.prepare("INSERT INTO entry_proofs VALUES(?,?,?)").run([
        .integer(number), .text(transaction.proof.kind), .integer(number),
      ])
      try connection.execute("UPDATE totals SET entries=entries+1, bytes=bytes+\(bytes.count)")
    }
    try addOrders(connection)
    return [
      transactions[0].key: "order-1", transactions[1].key: "order-2", transactions[2].key: "order-3",
    ]
  }

  private static func addOrders(_ connection: borrowing Connection) throws {
    try connection.execute("INSERT INTO companions VALUES('orders', 1)")
    for (number, state) in [(1, "paid"), (2, "paid"), (3, "delivered"), (4, "open")] {
      try connection.prepare("INSERT INTO orders VALUES(?,?,?,?,?,?,?)").run([
        .text("order-\(number)"), .text(ImageWorld.token(number).uuidString), .text(ImageWorld.account),
        .text(ImageWorld.product), .integer(1), .text(state), .integer(ImageWorld.noon.milliseconds),
      ])
    }
  }

  private static let orderRequests = """
    CREATE TABLE order_requests(
      idempotency_key TEXT PRIMARY KEY, account TEXT NOT NULL, product TEXT NOT NULL, quantity INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    """
}

import Foundation
import PurchaseQueue
import PurchaseSQLite

/// The orders of this device, in the queue's file: what is written with an entry is committed with it.
struct OrderJournal {
  private static let schema = """
    CREATE TABLE IF NOT EXISTS orders(
      number TEXT PRIMARY KEY,
      account_token TEXT NOT NULL UNIQUE,
      account TEXT NOT NULL,
      product TEXT NOT NULL,
      quantity INTEGER NOT NULL,
      state TEXT NOT NULL,
      created_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS order_requests(
      idempotency_key TEXT PRIMARY KEY,
      account TEXT NOT NULL,
      product TEXT NOT NULL,
      quantity INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT OR IGNORE INTO companions VALUES('orders', 1);
    """

  private let file: QueueFile
  private let insert: PreparedStatement
  private let byToken: PreparedStatement
  private let all: PreparedStatement
  private let setState: PreparedStatement
  private let insertRequest: PreparedStatement
  private let findRequests: PreparedStatement
  private let deleteRequest: PreparedStatement

  init(_ file: QueueFile) throws(QueueError) {
    self.file = file
    try file.transaction { () throws(QueueError) in
      try QueueError.wrap(file.path) { () throws(SQLiteError) in try file.connection.execute(Self.schema) }
    }
    func prepare(_ sql: String) throws(QueueError) -> PreparedStatement {
      do throws(SQLiteError) {
        return try PreparedStatement(file.connection, sql)
      } catch {
        throw QueueError(error, path: file.path)
      }
    }
    let columns = "number, account_token, account, product, quantity, state, created_at"
    insert = try prepare("INSERT OR REPLACE INTO orders(\(columns)) VALUES(?,?,?,?,?,?,?)")
    byToken = try prepare("SELECT \(columns) FROM orders WHERE account_token=?")
    all = try prepare("SELECT \(columns) FROM orders ORDER BY created_at, number")
    setState = try prepare("UPDATE orders SET state=? WHERE number=?")
    insertRequest = try prepare("INSERT INTO order_requests VALUES(?,?,?,?)")
    findRequests = try prepare(
      "SELECT idempotency_key FROM order_requests WHERE account=? AND product=? AND quantity=? ORDER BY idempotency_key"
    )
    deleteRequest = try prepare("DELETE FROM order_requests WHERE idempotency_key=?")
  }

  func order(accountToken: UUID) throws(QueueError) -> Order? {
    try QueueError.wrap(file.path) { () throws(SQLiteError) in
      try byToken.first([.text(accountToken.uuidString)]) { Self.order($0) }
    } ?? nil
  }

  func orders() throws(QueueError) -> [Order] {
    try QueueError.wrap(file.path) { () throws(SQLiteError) in try all.all { Self.order($0) } }.compactMap {
      $0
    }
  }

  /// The key of a request whose answer never came, or the proposed one, committed before it is sent. Requests that
  /// are still waiting for their answer are left to it: a second purchase of the same thing is another order.
  func request(
    account: String, product: String, quantity: Int, proposing key: String, waiting: Set<String>
  ) throws(QueueError) -> String {
    try file.transaction { () throws(QueueError) in
      try QueueError.wrap(self.file.path) { () throws(SQLiteError) in
        let values: [SQLValue] = [.text(account), .text(product), .integer(Int64(quantity))]
        let unanswered = try self.findRequests.all(values) { $0.text(0) }
        if let found = unanswered.first(where: { !waiting.contains($0) }) { return found }
        try self.insertRequest.run([.text(key)] + values)
        return key
      }
    }
  }

  /// Commits an order, and ends the request that it answers.
  func save(_ order: Order, answering key: String? = nil) throws(QueueError) {
    try file.transaction { () throws(QueueError) in
      try QueueError.wrap(self.file.path) { () throws(SQLiteError) in
        try self.insert.run([
          .text(order.number), .text(order.accountToken.uuidString), .text(order.account),
          .text(order.productID), .integer(Int64(order.quantity)), .text(order.state.rawValue),
          .integer(order.createdAt.milliseconds),
        ])
        if let key { try self.deleteRequest.run([.text(key)]) }
      }
    }
  }

  /// To be called inside a transaction of the file.
  func mark(_ number: String, _ state: OrderState) throws(QueueError) {
    try QueueError.wrap(file.path) { () throws(SQLiteError) in
      try setState.run([.text(state.rawValue), .text(number)])
    }
  }

  private static func order(_ row: borrowing Row) -> Order? {
    guard let token = UUID(uuidString: row.text(1)) else { return nil }
    return Order(
      number: row.text(0), accountToken: token, account: row.text(2), productID: row.text(3),
      quantity: Int(row.integer(4)), state: OrderState(rawValue: row.text(5)),
      createdAt: Timestamp(milliseconds: row.integer(6)))
  }
}

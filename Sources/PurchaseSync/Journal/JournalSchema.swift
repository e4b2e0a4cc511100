import Foundation
import PurchaseQueue
import PurchaseSQLite

/// The engine's own tables in the queue's file: what is written with an entry is committed with it.
///
/// | table | holds |
/// | --- | --- |
/// | `orders` | the order journal; `bound_to` is the transaction that an order belongs to, for ever |
/// | `order_requests` | keys of order requests whose answer never came |
/// | `watches` | how an entry that fails has fared (`PoisonWatch`) |
/// | `owed_updates` | news about settled transactions for which there was no room; without details, all of it |
/// | `device_claims` | accounts that claimed the device's purchases |
enum JournalSchema {
  static let name = "orders"
  static let version: Int64 = 2

  private static let orders = """
    CREATE TABLE IF NOT EXISTS orders(
      number TEXT PRIMARY KEY,
      account_token TEXT NOT NULL UNIQUE,
      account TEXT NOT NULL,
      product TEXT NOT NULL,
      quantity INTEGER NOT NULL,
      state TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER,
      bound_to TEXT UNIQUE,
      checksum INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS orders_by_time ON orders(product, quantity, created_at, number);
    """
  private static let others = """
    CREATE TABLE IF NOT EXISTS order_requests(
      idempotency_key TEXT PRIMARY KEY,
      account TEXT NOT NULL,
      product TEXT NOT NULL,
      quantity INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS watches(
      key TEXT PRIMARY KEY,
      failed_rounds INTEGER NOT NULL,
      failing_since INTEGER,
      unknown_answers INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS owed_updates(
      place INTEGER PRIMARY KEY,
      key TEXT NOT NULL UNIQUE,
      details TEXT
    ) STRICT;
    CREATE TABLE IF NOT EXISTS device_claims(
      account TEXT PRIMARY KEY,
      through_place INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    """

  /// Makes the tables, or brings those of an earlier version to this one, in one commit.
  static func prepare(_ file: QueueFile) throws(QueueError) {
    try file.transaction { () throws(QueueError) in
      let found = try file.read { () throws(SQLiteError) in try Self.found(in: file.connection) }
      guard found ?? 0 <= version else {
        throw QueueError.newerSchema(path: file.path, found: Int(found ?? 0), supported: Int(version))
      }
      try file.read { () throws(SQLiteError) in
        // Also where the version is right: a salvage may have lost a table, and kept the row that says so.
        if found == 1 { try file.connection.execute("ALTER TABLE orders RENAME TO orders_1") }
        try file.connection.execute(orders)
        try file.connection.execute(others)
        if found == 1 { try takeOver(from: file.connection) }
        guard found != version else { return }
        try file.connection.prepare("INSERT OR REPLACE INTO companions VALUES(?,?)").run([
          .text(name), .integer(version),
        ])
      }
    }
    file.hook?("journal.prepared")
  }

  /// The version of the tables that are there; nil if there are none. After a salvage they may have lost the row that
  /// says it: then a column that version 1 did not have does.
  private static func found(in connection: borrowing Connection) throws(SQLiteError) -> Int64? {
    let noted = try connection.prepare("SELECT version FROM companions WHERE name=?").first([.text(name)]) {
      $0.integer(0)
    }
    // What is there counts, not what a row says of it: of the two a salvage may have kept either.
    if let noted, noted != 1 { return noted }
    let columns = try connection.prepare("SELECT name FROM pragma_table_info('orders')").all { $0.text(0) }
    guard !columns.isEmpty else { return noted == nil ? nil : 0 }
    // Anything but version 1 is made whole by what follows.
    return columns.contains("checksum") ? 0 : 1
  }

  /// Version 1 had neither ends nor bindings nor checksums. Which transaction an order is bound to stands in the
  /// entry or the tombstone that names the order.
  private static func takeOver(from connection: borrowing Connection) throws(SQLiteError) {
    let rows = try connection.prepare(
      """
      SELECT number, account_token, account, product, quantity, state, created_at, NULL,
        coalesce(
          (SELECT key FROM entries WHERE order_number=number ORDER BY place LIMIT 1),
          (SELECT key FROM tombstones WHERE order_number=number ORDER BY settled_at LIMIT 1))
      FROM orders_1
      """
    ).all { JournalRow.values($0) }
    let insert = try connection.prepare("INSERT OR IGNORE INTO orders VALUES(?,?,?,?,?,?,?,?,?,?)")
    for row in rows { try insert.run(row) }
    try connection.execute("DROP TABLE orders_1")
  }
}

/// An order as it stands in its row.
struct JournalRow {
  var order: Order
  /// The transaction that it belongs to.
  var boundTo: EntryKey?
  /// Whether the row matches its checksum. One that doesn't counts as absent: the backend knows the order.
  var isWhole: Bool

  static let columns =
    "number, account_token, account, product, quantity, state, created_at, expires_at, bound_to, checksum"

  var values: [SQLValue] {
    let fields: [SQLValue] = [
      .text(order.number), .text(order.accountToken.uuidString), .text(order.account),
      .text(order.productID), .integer(Int64(order.quantity)), .text(order.state.rawValue),
      .integer(order.createdAt.milliseconds), .integer(order.expiresAt?.milliseconds),
      .text(boundTo?.rawValue),
    ]
    return fields + [.integer(Self.checksum(fields))]
  }

  /// Nil if the token is no UUID.
  init?(_ row: borrowing Row) {
    guard let token = UUID(uuidString: row.text(1)) else { return nil }
    order = Order(
      number: row.text(0), accountToken: token, account: row.text(2), productID: row.text(3),
      quantity: Int(row.integer(4)), state: OrderState(rawValue: row.text(5)),
      createdAt: Timestamp(milliseconds: row.integer(6)),
      expiresAt: row.optionalInteger(7).map(Timestamp.init(milliseconds:)))
    boundTo = row.optionalText(8).map(EntryKey.init(rawValue:))
    isWhole = row.integer(9) == Self.values(row).last.flatMap(Self.integer)
  }

  init(_ order: Order, boundTo: EntryKey?) {
    self.order = order
    self.boundTo = boundTo
    isWhole = true
  }

  private static func integer(_ value: SQLValue) -> Int64? {
    guard case .integer(let integer) = value else { return nil }
    return integer
  }

  /// A row without a checksum, with one.
  static func values(_ row: borrowing Row) -> [SQLValue] {
    var fields: [SQLValue] = []
    for column in 0..<9 { fields.append(row.value(Int32(column))) }
    return fields + [.integer(checksum(fields))]
  }

  private static func checksum(_ fields: [SQLValue]) -> Int64 {
    var hash = RowHash()
    for field in fields {
      switch field {
      case .text(let text): hash.add(text)
      case .integer(let integer): hash.add(integer)
      default: hash.add(nil as Int64?)
      }
    }
    return hash.value
  }
}

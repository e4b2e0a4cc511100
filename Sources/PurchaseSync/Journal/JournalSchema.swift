import Foundation
import PurchaseQueue
import PurchaseSQLite

/// The engine's own tables in the queue's file. Rows about an entry are committed together with the entry.
///
/// | table | holds |
/// | --- | --- |
/// | `orders` | the order journal; `bound_to` is the transaction to which an order belongs, permanently. Several orders of one account may have one token |
/// | `order_requests` | keys of order requests whose answer never came |
/// | `watches` | the failures of an entry (`PoisonWatch`) |
/// | `waits` | why and since when an entry is postponed (`Wait`). Only a row that ends at the entry's `ready_at` counts |
/// | `owed_updates` | updates of settled transactions for which there was no capacity; a row without details sends everything again |
/// | `device_adoptions` | accounts that adopted the device's purchases, in the order of their requests |
/// | `order_extras` | the app's context of an order, and whether this device made it |
/// | `own_orders` | orders that this installation made (0), of an earlier one that the vault brought back (1), and of another device whose file was copied (2); and when the app got the order last, by the device's clock |
/// | `order_notices` | orders whose state the backend has not acknowledged yet |
/// | `owned_orders` | orders that the store answered with an earlier transaction, until the app confirms their outcome |
/// | `owned_answers` | what the backend said to the account of such an order about the transaction |
package enum JournalSchema {
  static let name = "orders"
  static let version: Int64 = 1
  /// The SQL of all tables.
  package static let schemas = [orders, others, orderNotes]

  static let orders = """
    CREATE TABLE IF NOT EXISTS orders(
      number TEXT PRIMARY KEY,
      account_token TEXT NOT NULL,
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
    CREATE INDEX IF NOT EXISTS orders_by_token ON orders(account_token, product, quantity);
    """
  static let others = """
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
      unknown_answers INTEGER NOT NULL,
      claims_per_upload INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS waits(
      key TEXT PRIMARY KEY,
      cause TEXT NOT NULL,
      began INTEGER NOT NULL,
      milliseconds INTEGER NOT NULL,
      asked INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS owed_updates(
      place INTEGER PRIMARY KEY,
      key TEXT NOT NULL UNIQUE,
      details TEXT
    ) STRICT;
    CREATE TABLE IF NOT EXISTS device_adoptions(
      sequence INTEGER PRIMARY KEY,
      account TEXT NOT NULL UNIQUE,
      through_place INTEGER NOT NULL
    ) STRICT;
    """

  static let orderNotes = """
    CREATE TABLE IF NOT EXISTS order_extras(
      number TEXT PRIMARY KEY,
      context TEXT,
      is_device_made INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS own_orders(
      number TEXT PRIMARY KEY,
      is_restored INTEGER NOT NULL,
      handed_out_at INTEGER
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS order_notices(
      number TEXT PRIMARY KEY,
      account TEXT NOT NULL,
      state TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS owned_orders(
      number TEXT PRIMARY KEY,
      account TEXT NOT NULL,
      key TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS owned_orders_by_key ON owned_orders(key);
    CREATE TABLE IF NOT EXISTS owned_answers(
      number TEXT PRIMARY KEY,
      outcome TEXT NOT NULL,
      settled_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    """

  /// Makes the tables that are missing, in one commit. Tables of a newer version are refused.
  static func prepare(_ file: QueueFile) throws(QueueError) {
    try file.transaction { () throws(QueueError) in
      let found = try believable(
        file.read { () throws(SQLiteError) in try noted(in: file.connection) }, in: file)
      guard found ?? 0 <= version else {
        throw QueueError.newerSchema(path: file.path, found: Int(found ?? 0), supported: Int(version))
      }
      try file.read { () throws(SQLiteError) in
        // Also if the version is right: a salvage may lose a table and keep the row with the version.
        try file.connection.execute(orders)
        try file.connection.execute(others)
        try file.connection.execute(orderNotes)
        guard try noted(in: file.connection) != version else { return }
        try file.connection.prepare("INSERT OR REPLACE INTO companions VALUES(?,?)").run([
          .text(name), .integer(version),
        ])
      }
      try file.noteSchema()
      if try file.fact(fact) != String(version) { try file.setFact(fact, String(version)) }
    }
    file.checkpoint?(.journalPrepared)
  }

  /// The version once more, with a checksum: a flipped bit in the table must not ask for an update of the app for ever.
  private static let fact = "orders.version"

  private static func believable(_ found: Int64?, in file: QueueFile) throws(QueueError) -> Int64? {
    guard let found, found != version, try file.fact(fact) == String(version) else { return found }
    return (found ^ version).nonzeroBitCount == 1 ? version : found
  }

  /// The version of the tables; nil for a new file, and after a salvage that lost the row.
  private static func noted(in connection: borrowing Connection) throws(SQLiteError) -> Int64? {
    try connection.prepare("SELECT version FROM companions WHERE name=?").first([.text(name)]) {
      $0.integer(0)
    }
  }
}

/// One row of the table `orders`.
struct JournalRow {
  var order: PurchaseOrder
  /// The transaction to which the order belongs.
  var boundTo: EntryKey?
  /// Whether the row matches its checksum. A row that does not counts as absent: the backend knows the order.
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

  /// Nil if the token is not a UUID.
  init?(_ row: borrowing Row) {
    guard let token = UUID(uuidString: row.text(1)) else { return nil }
    order = PurchaseOrder(
      number: row.text(0), accountToken: token, account: row.text(2), productID: row.text(3),
      quantity: Int(row.integer(4)), state: OrderState(rawValue: row.text(5)),
      createdAt: Timestamp(milliseconds: row.integer(6)),
      expiresAt: row.optionalInteger(7).map(Timestamp.init(milliseconds:)))
    boundTo = row.optionalText(8).map(EntryKey.init(rawValue:))
    isWhole = row.integer(9) == Self.values(row).last.flatMap(Self.integer)
  }

  init(_ order: PurchaseOrder, boundTo: EntryKey?) {
    self.order = order
    self.boundTo = boundTo
    isWhole = true
  }

  private static func integer(_ value: SQLValue) -> Int64? {
    guard case .integer(let integer) = value else { return nil }
    return integer
  }

  /// The values of a row without a checksum, with their checksum appended.
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

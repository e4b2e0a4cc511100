import Foundation
import PurchaseQueue
import PurchaseSQLite

/// The engine's own tables in the queue's file. Rows about an entry are committed together with the entry.
///
/// | table | holds |
/// | --- | --- |
/// | `orders` | the order journal (`OrderRow`), and requests whose answer never came. Several orders of one account may have one token |
/// | `watches` | the failures of an entry (`PoisonWatch`) |
/// | `waits` | why and since when an entry is postponed (`Wait`). Only a row that ends at the entry's `ready_at` counts |
/// | `pending_updates` | updates of settled transactions for which there was no capacity; a row without details sends everything again |
/// | `device_adoptions` | accounts that adopted the device's purchases, in the order of their requests |
package enum JournalSchema {
  static let name = "orders"
  static let version: Int64 = 1
  /// The SQL of all tables.
  package static let schemas = [orders, others]

  static let orders = """
    CREATE TABLE IF NOT EXISTS orders(
      number TEXT PRIMARY KEY,
      account_token TEXT,
      account TEXT NOT NULL,
      product TEXT NOT NULL,
      quantity INTEGER NOT NULL,
      state TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER,
      context TEXT,
      maker TEXT NOT NULL,
      origin TEXT NOT NULL,
      begun_at INTEGER,
      bound_to TEXT UNIQUE,
      notice TEXT,
      existing_key TEXT,
      existing_outcome TEXT,
      existing_settled_at INTEGER,
      checksum INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS orders_by_time ON orders(product, quantity, created_at, number);
    CREATE INDEX IF NOT EXISTS orders_by_token ON orders(account_token, product, quantity);
    CREATE INDEX IF NOT EXISTS orders_by_existing ON orders(existing_key) WHERE existing_key IS NOT NULL;
    CREATE INDEX IF NOT EXISTS orders_with_notice ON orders(number) WHERE notice IS NOT NULL;
    """
  static let others = """
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
    CREATE TABLE IF NOT EXISTS pending_updates(
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

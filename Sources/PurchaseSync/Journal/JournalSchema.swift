import PurchaseQueue
import PurchaseSQLite

/// The engine's own tables in the queue's file. Rows about an entry are committed together with the entry.
///
/// | table | holds |
/// | --- | --- |
/// | `orders` | the order journal (`OrderRow`), and requests whose answer never came. Several orders of one account may have one token |
/// | `pending_updates` | updates of settled transactions for which there was no capacity; a row without details sends everything again |
/// | `device_adoptions` | accounts that adopted the device's purchases, in the order of their requests |
///
/// What is about one entry is in the entry's row (`EntryNotes`), and ends with it. The others have a home of their own:
/// `pending_updates` is about tombstones, and has an order; a new ledger epoch makes an update pending for each of them in
/// one statement, which in a column would write every tombstone again. An adoption is about a device and an account, and
/// neither has a row. What there is one of is a fact.
package enum JournalSchema {
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
      note TEXT,
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
    try write(to: file)
    file.checkpoint?(.journalPrepared)
  }

  /// Most openings find everything there. They write nothing, so that no check of the whole file comes before them.
  private static func write(to file: QueueFile) throws(QueueError) {
    if try versionNoted(in: file) == version, try file.hasNoted(names) { return }
    try file.transaction { () throws(QueueError) in
      let found = try versionNoted(in: file)
      guard found ?? 0 <= version else {
        throw QueueError.newerSchema(path: file.path, found: Int(found ?? 0), supported: Int(version))
      }
      try file.read { () throws(SQLiteError) in
        // Also if the version is right: a salvage may lose a table and keep the fact with the version.
        for schema in schemas { try file.connection.execute(schema) }
      }
      try file.noteSchema()
      if found != version { try file.setFact(fact, String(version)) }
    }
  }

  /// Nil in a new file, and after damage to the fact.
  private static func versionNoted(in file: QueueFile) throws(QueueError) -> Int64? {
    try file.fact(fact).flatMap { Int64($0) }
  }

  /// Of the tables and indexes.
  private static let names = [
    "orders", "orders_by_time", "orders_by_token", "orders_by_existing", "orders_with_notice",
    "pending_updates", "device_adoptions",
  ]

  /// The version of the tables.
  private static let fact = "orders.version"
}

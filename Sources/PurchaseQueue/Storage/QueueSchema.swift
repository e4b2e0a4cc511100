import PurchaseSQLite

/// The tables of the queue's file. `FileFormat.md` explains them.
///
/// Each fact has one home. A payload is apart from its entry because several may share its bytes, and a tombstone because it
/// outlives its entry. A reservation is for an entry that is not there yet, and perhaps never will be. The totals alone
/// repeat what the rows say: counting them would cost each enqueue a reading of the table.
enum QueueSchema {
  /// "PrQ1": distinguishes a queue from other SQLite files.
  static let applicationID: UInt32 = 0x5072_5131
  static let version = 1
  /// A comment in the SQL of the first table. It identifies a queue whose header is damaged.
  static let mark = "/* PurchaseQueue */"

  /// The tables whose rows are salvaged from a damaged file.
  static let tables = ["facts", "totals", "entries", "payloads", "tombstones", "reservations"]

  /// The SQL of a new file.
  static let sql = [entries, payloads, tombstones, reservations, totals, facts, view]
    .joined(separator: "\n")

  static let entries = """
    CREATE TABLE entries( \(mark)
      place INTEGER PRIMARY KEY,
      key TEXT NOT NULL UNIQUE,
      lane TEXT NOT NULL,
      state TEXT NOT NULL,
      ready_at INTEGER NOT NULL,
      order_number TEXT,
      attempts INTEGER NOT NULL,
      attempted_at INTEGER,
      enqueued_at INTEGER NOT NULL,
      unprotected INTEGER NOT NULL,
      payloads TEXT NOT NULL,
      details TEXT NOT NULL,
      reason TEXT,
      history TEXT NOT NULL,
      notes TEXT,
      checksum INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX entries_ready ON entries(lane, place) WHERE state = 'queued' AND ready_at = 0;
    CREATE INDEX entries_postponed ON entries(lane, place, ready_at) WHERE state = 'queued' AND ready_at <> 0;
    CREATE INDEX entries_by_readiness ON entries(ready_at, place) WHERE state = 'queued' AND ready_at <> 0;
    """
  static let payloads = """
    CREATE TABLE payloads(
      id INTEGER PRIMARY KEY,
      checksum INTEGER NOT NULL,
      uses INTEGER NOT NULL,
      bytes BLOB NOT NULL
    ) STRICT;
    """
  static let tombstones = """
    CREATE TABLE tombstones(
      key TEXT PRIMARY KEY,
      lane TEXT NOT NULL,
      order_number TEXT,
      outcome TEXT NOT NULL,
      details TEXT NOT NULL,
      enqueued_at INTEGER NOT NULL,
      attempts INTEGER NOT NULL,
      settled_at INTEGER NOT NULL,
      finish_pending INTEGER NOT NULL,
      unconfirmed INTEGER NOT NULL,
      history TEXT NOT NULL,
      checksum INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX tombstones_with_duties ON tombstones(settled_at) WHERE finish_pending OR unconfirmed;
    """
  static let reservations = """
    CREATE TABLE reservations(
      name TEXT PRIMARY KEY,
      bytes INTEGER NOT NULL,
      until INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    """
  static let totals = """
    CREATE TABLE totals(
      id INTEGER PRIMARY KEY CHECK (id = 1),
      last_place INTEGER NOT NULL,
      queued INTEGER NOT NULL,
      bytes INTEGER NOT NULL,
      quarantined INTEGER NOT NULL,
      quarantined_bytes INTEGER NOT NULL,
      reserved INTEGER NOT NULL,
      reserved_bytes INTEGER NOT NULL,
      tombstones INTEGER NOT NULL,
      unconfirmed INTEGER NOT NULL,
      duties INTEGER NOT NULL,
      tombstone_bytes INTEGER NOT NULL,
      duty_bytes INTEGER NOT NULL,
      checksum INTEGER NOT NULL
    ) STRICT;
    """
  static let facts = """
    CREATE TABLE facts(
      name TEXT PRIMARY KEY,
      value TEXT NOT NULL,
      checksum INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    """
  static let view = """
    CREATE VIEW queue AS SELECT /* version \(version) */
      place, key, lane, state, order_number AS "order", attempts,
      strftime('%Y-%m-%dT%H:%M:%SZ', enqueued_at / 1000, 'unixepoch') AS enqueued,
      strftime('%Y-%m-%dT%H:%M:%SZ', attempted_at / 1000, 'unixepoch') AS attempted,
      strftime('%Y-%m-%dT%H:%M:%SZ', nullif(ready_at, 0) / 1000, 'unixepoch') AS postponed_until,
      replace(payloads, char(10), '; ') AS payloads, reason
    FROM entries ORDER BY place;
    """

  static func create(in connection: borrowing Connection) throws(SQLiteError) {
    try connection.execute(sql)
    try setTotals(Totals(), in: connection)
    try mark(connection)
  }

  static func mark(_ connection: borrowing Connection) throws(SQLiteError) {
    try connection.execute("PRAGMA application_id=\(applicationID)")
    try connection.execute("PRAGMA user_version=\(version)")
  }

  /// Writes the row of the totals, or replaces it.
  static func setTotals(_ totals: Totals, in connection: borrowing Connection) throws(SQLiteError) {
    try connection.prepare("INSERT OR REPLACE INTO totals VALUES(1,?,?,?,?,?,?,?,?,?,?,?,?,?)").run(
      totals.values)
  }
}

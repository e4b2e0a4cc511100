public import PurchaseQueue
import PurchaseSQLite

/// Turns a queue's file into a file of version 0 of the schema with the same entries, payloads and tombstones. An app
/// finds such a file after an update.
public enum EarlierFile {
  /// Rewrites the file, which no process may have open. The history of entries and their reasons for quarantine are
  /// lost; the tables of other modules stay as they are.
  public static func rewrite(_ path: String) throws(QueueError) {
    try QueueError.wrap(path) { () throws(SQLiteError) in
      let connection = try Connection(path: path)
      try connection.execute("BEGIN IMMEDIATE")
      try connection.execute("DROP VIEW queue; DROP TABLE totals")
      for table in tables { try connection.execute("ALTER TABLE \(table) RENAME TO new_\(table)") }
      for index in try indexes(of: connection) { try connection.execute("DROP INDEX \(index)") }
      try connection.execute(EarlierSchema.entries + EarlierSchema.tombstones + EarlierSchema.facts)
      try connection.execute(copies)
      for table in tables { try connection.execute("DROP TABLE new_\(table)") }
      try connection.execute("PRAGMA user_version=0; COMMIT")
    }
  }

  private static let tables = ["entries", "tombstones", "facts"]

  private static func indexes(of connection: borrowing Connection) throws(SQLiteError) -> [String] {
    try connection.prepare(
      """
      SELECT name FROM sqlite_schema WHERE type='index' AND sql IS NOT NULL \
      AND tbl_name IN ('new_entries', 'new_tombstones', 'new_facts')
      """
    ).all { $0.text(0) }
  }

  /// Every column of version 0.
  private static let copies = """
    INSERT INTO entries SELECT place, key, lane, state, ready_at, order_number, attempts, attempted_at, enqueued_at,
      unprotected, payloads, details FROM new_entries;
    INSERT INTO tombstones SELECT key, lane, order_number, outcome, details, enqueued_at, attempts, settled_at,
      finish_pending, unconfirmed FROM new_tombstones;
    INSERT INTO facts SELECT name, value FROM new_facts;
    """
}

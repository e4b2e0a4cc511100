public import PurchaseQueue
import PurchaseSQLite

/// Turns a queue's file into one that the first version of the schema would have left, with the same entries, proofs,
/// tombstones and orders: what an app finds after an update of itself.
public enum EarlierFile {
  /// Rewrites the file, which nobody may have open; its history, quarantine reasons and notes are lost by it.
  public static func rewrite(_ path: String) throws(QueueError) {
    try QueueError.wrap(path) { () throws(SQLiteError) in
      let connection = try Connection(path: path)
      try connection.execute("PRAGMA foreign_keys=OFF")
      try connection.execute("BEGIN IMMEDIATE")
      for table in ["entries", "proofs", "tombstones", "facts", "orders"] {
        try connection.execute("ALTER TABLE \(table) RENAME TO new_\(table)")
      }
      for index in try indexes(of: connection) { try connection.execute("DROP INDEX \(index)") }
      try connection.execute("DROP TABLE totals; DROP TABLE reservations")
      try connection.execute(FirstSchema.queue)
      try connection.execute(FirstSchema.orders)
      try connection.execute(copies)
      try copyProofReferences(connection)
      try connection.execute("DROP VIEW queue")
      for table in ["entries", "proofs", "tombstones", "facts", "orders"] {
        try connection.execute("DROP TABLE new_\(table)")
      }
      for table in ["watches", "owed_updates", "device_claims"] {
        try connection.execute("DROP TABLE IF EXISTS \(table)")
      }
      try connection.execute("PRAGMA user_version=1; COMMIT")
    }
  }

  /// A table of their own: in the second version they are lines of text in the entry.
  private static func copyProofReferences(_ connection: borrowing Connection) throws(SQLiteError) {
    let lists = try connection.prepare("SELECT place, proofs FROM new_entries").all {
      ($0.integer(0), $0.text(1))
    }
    let insert = try connection.prepare("INSERT INTO entry_proofs VALUES(?,?,?)")
    for (place, list) in lists {
      for line in list.split(separator: "\n") {
        // Number, size and kind; one without a number is known by reference only, which version 1 did not have.
        let words = line.split(separator: " ")
        guard words.count == 3, let id = Int64(words[0]) else { continue }
        try insert.run([.integer(place), .text(String(words[2])), .integer(id)])
      }
    }
  }

  private static func indexes(of connection: borrowing Connection) throws(SQLiteError) -> [String] {
    try connection.prepare("SELECT name FROM sqlite_schema WHERE type='index' AND sql IS NOT NULL").all {
      $0.text(0)
    }
  }

  /// What of the second version the first one knew; its checksums were not looked at when it was read.
  private static let copies = """
    INSERT INTO proofs SELECT id, checksum, length(bytes), bytes FROM new_proofs;
    INSERT INTO entries SELECT place, key, lane, order_number, details, state, enqueued_at, attempts, attempted_at,
      ready_at, unprotected, 0 FROM new_entries;
    INSERT INTO tombstones SELECT key, lane, order_number, outcome, details, settled_at, finish_owed, unseen, 0
      FROM new_tombstones;
    INSERT INTO facts SELECT name, value FROM new_facts;
    UPDATE totals SET entries=(SELECT count(*) FROM entries), bytes=(SELECT coalesce(sum(size), 0) FROM proofs);
    INSERT INTO orders SELECT number, account_token, account, product, quantity, state, created_at FROM new_orders;
    UPDATE companions SET version=1 WHERE name='orders';
    """
}

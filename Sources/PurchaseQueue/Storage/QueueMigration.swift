import PurchaseSQLite

/// How a file of an earlier version becomes one of this, in one commit.
enum QueueMigration {
  static func run(on connection: borrowing Connection, from version: Int) throws(QueueError) {
    let path = connection.path
    do throws(SQLiteError) {
      try connection.execute("PRAGMA foreign_keys=OFF")
      try connection.execute("BEGIN IMMEDIATE")
      // Another process cannot have been faster: migrating happens under the inter-process lock.
      if version == 1 { try fromVersion1(connection) }
      try connection.execute("COMMIT")
      try connection.execute("PRAGMA foreign_keys=ON")
    } catch {
      throw QueueError(error, path: path)
    }
  }

  /// Version 1 had a table that tied proofs to entries, and no history, reservations or quarantine reasons.
  private static func fromVersion1(_ connection: borrowing Connection) throws(SQLiteError) {
    for table in ["entries", "proofs", "entry_proofs", "tombstones", "facts"] {
      try connection.execute("ALTER TABLE \(table) RENAME TO old_\(table)")
    }
    for index in ["entries_by_lane", "proofs_by_checksum", "entry_proofs_by_proof", "tombstones_with_duties"]
    {
      try connection.execute("DROP INDEX IF EXISTS \(index)")
    }
    try connection.execute("DROP TABLE totals")
    try connection.execute(QueueSchema.sql)
    try copyProofs(connection)
    try copyEntries(connection)
    try copyTombstones(connection)
    let facts = try connection.prepare("SELECT name, value FROM old_facts").all { ($0.text(0), $0.text(1)) }
    for (name, value) in facts {
      try connection.prepare("INSERT INTO facts VALUES(?,?,?)").run([
        .text(name), .text(value), .integer(RowHash.of(name, value)),
      ])
    }
    for table in ["entry_proofs", "entries", "proofs", "tombstones", "facts"] {
      try connection.execute("DROP TABLE old_\(table)")
    }
    // The row of the totals is missing: the first use counts.
    try QueueSchema.mark(connection)
  }

  /// A proof keeps its number: it is a name, and being the checksum is only a way to find equal ones.
  private static func copyProofs(_ connection: borrowing Connection) throws(SQLiteError) {
    try connection.execute(
      """
      INSERT INTO proofs SELECT id, checksum, \
      (SELECT count(*) FROM old_entry_proofs WHERE proof=old_proofs.id), bytes FROM old_proofs
      """)
  }

  private static func copyEntries(_ connection: borrowing Connection) throws(SQLiteError) {
    let select = """
      SELECT place, key, lane, order_number, details, state, enqueued_at, attempts, attempted_at, ready_at, \
      unprotected FROM old_entries ORDER BY place
      """
    var entries = try connection.prepare(select).all { row in
      Entry(
        place: row.integer(0), key: EntryKey(rawValue: row.text(1)), lane: Lane(text: row.text(2)),
        orderNumber: row.optionalText(3), details: row.text(4),
        state: Entry.State(rawValue: row.text(5)) ?? .queued, reason: nil,
        enqueuedAt: Timestamp(milliseconds: row.integer(6)), attempts: Int(row.integer(7)),
        attemptedAt: row.optionalInteger(8).map(Timestamp.init(milliseconds:)),
        readyAt: Timestamp(milliseconds: row.integer(9)), isUnprotected: row.flag(10), proofs: [],
        history: History())
    }
    let proofs = try connection.prepare(
      "SELECT kind, id, size FROM old_entry_proofs JOIN old_proofs ON id=proof WHERE place=? ORDER BY kind")
    let insert = try connection.prepare(
      "INSERT INTO entries(\(StoredEntry.columns)) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")
    for index in entries.indices {
      // Ready from the start was the moment of enqueuing; now it is 0.
      if entries[index].readyAt <= entries[index].enqueuedAt {
        entries[index].readyAt = Timestamp(milliseconds: 0)
      }
      entries[index].proofs = try proofs.all([.integer(entries[index].place)]) {
        ProofReference(kind: $0.text(0), id: $0.integer(1), size: Int($0.integer(2)))
      }
      try insert.run(entries[index].values)
    }
  }

  private static func copyTombstones(_ connection: borrowing Connection) throws(SQLiteError) {
    let select = """
      SELECT key, lane, order_number, outcome, details, settled_at, finish_owed, unseen FROM old_tombstones \
      ORDER BY settled_at, key
      """
    let tombstones = try connection.prepare(select).all { row in
      let settledAt = Timestamp(milliseconds: row.integer(5))
      return Tombstone(
        key: EntryKey(rawValue: row.text(0)), lane: Lane(text: row.text(1)), orderNumber: row.optionalText(2),
        outcome: row.text(3), details: row.text(4), enqueuedAt: settledAt, attempts: 0, settledAt: settledAt,
        isFinishOwed: row.flag(6), isUnseen: row.flag(7), history: History())
    }
    let insert = try connection.prepare(
      "INSERT INTO tombstones(\(StoredTombstone.columns)) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)")
    for tombstone in tombstones { try insert.run(tombstone.values) }
  }
}

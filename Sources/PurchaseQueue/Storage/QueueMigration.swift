import PurchaseSQLite

/// Brings a file of an earlier schema version to this version, in one commit.
///
/// To change the schema: raise `QueueSchema.version`, add a case to `step`, and add a file of the old version to
/// `MigrationTests`. A step never changes after its release.
enum QueueMigration {
  /// Call it under the inter-process lock: no other process may migrate the file at the same time.
  static func run(on connection: borrowing Connection, from version: Int) throws(QueueError) {
    let path = connection.path
    do throws(SQLiteError) {
      try connection.execute("BEGIN IMMEDIATE")
      for earlier in version..<QueueSchema.version { try step(from: earlier, on: connection) }
      try QueueSchema.mark(connection)
      try connection.execute("COMMIT")
    } catch {
      throw QueueError(error, path: path)
    }
  }

  /// Turns one version into the next.
  private static func step(from version: Int, on connection: borrowing Connection) throws(SQLiteError) {
    switch version {
    case 0: try fromVersion0(connection)
    default: return
    }
  }

  /// Version 0 was never released. It is the tested example of a migration: its entries have no reason and no history,
  /// its tombstones no history, its facts no checksum, and it has neither totals nor the view.
  private static func fromVersion0(_ connection: borrowing Connection) throws(SQLiteError) {
    for table in ["entries", "tombstones", "facts"] {
      try connection.execute("ALTER TABLE \(table) RENAME TO old_\(table)")
    }
    // An index keeps its name when its table is renamed.
    for index in ["entries_ready", "entries_postponed", "entries_by_readiness", "tombstones_with_duties"] {
      try connection.execute("DROP INDEX IF EXISTS \(index)")
    }
    try connection.execute(
      QueueSchema.entries + QueueSchema.tombstones + QueueSchema.totals + QueueSchema.facts + QueueSchema.view
    )
    try copyEntries(connection)
    try copyTombstones(connection)
    let facts = try connection.prepare("SELECT name, value FROM old_facts").all { ($0.text(0), $0.text(1)) }
    let insert = try connection.prepare("INSERT INTO facts VALUES(?,?,?)")
    for (name, value) in facts {
      try insert.run([.text(name), .text(value), .integer(RowHash.of(name, value))])
    }
    for table in ["entries", "tombstones", "facts"] { try connection.execute("DROP TABLE old_\(table)") }
    // The row of the totals is missing: the first use counts.
  }

  /// The checksum of a row covers every column, so each row is built and written again.
  private static func copyEntries(_ connection: borrowing Connection) throws(SQLiteError) {
    let select = """
      SELECT place, key, lane, state, ready_at, order_number, attempts, attempted_at, enqueued_at, unprotected, \
      payloads, details FROM old_entries ORDER BY place
      """
    let entries = try connection.prepare(select).all { row in
      Entry(
        place: row.integer(0), key: EntryKey(rawValue: row.text(1)), lane: Lane(rawValue: row.text(2)),
        orderNumber: row.optionalText(5), details: row.text(11),
        state: Entry.State(rawValue: row.text(3)) ?? .queued, reason: nil,
        enqueuedAt: Timestamp(milliseconds: row.integer(8)), attempts: Int(row.integer(6)),
        attemptedAt: row.optionalInteger(7).map(Timestamp.init(milliseconds:)),
        readyAt: Timestamp(milliseconds: row.integer(4)), isUnprotected: row.flag(9),
        payloads: PayloadReference.list(row.text(10)), history: History())
    }
    let insert = try connection.prepare(
      "INSERT INTO entries(\(StoredEntry.columns)) VALUES(\(StoredEntry.marks))")
    for entry in entries { try insert.run(entry.values) }
  }

  private static func copyTombstones(_ connection: borrowing Connection) throws(SQLiteError) {
    let select = """
      SELECT key, lane, order_number, outcome, details, enqueued_at, attempts, settled_at, finish_pending, unconfirmed \
      FROM old_tombstones ORDER BY settled_at, key
      """
    let tombstones = try connection.prepare(select).all { row in
      Tombstone(
        key: EntryKey(rawValue: row.text(0)), lane: Lane(rawValue: row.text(1)),
        orderNumber: row.optionalText(2),
        outcome: row.text(3), details: row.text(4), enqueuedAt: Timestamp(milliseconds: row.integer(5)),
        attempts: Int(row.integer(6)), settledAt: Timestamp(milliseconds: row.integer(7)),
        isFinishPending: row.flag(8), isUnconfirmed: row.flag(9), history: History())
    }
    let insert = try connection.prepare(
      "INSERT INTO tombstones(\(StoredTombstone.columns)) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)")
    for tombstone in tombstones { try insert.run(tombstone.values) }
  }
}

import PurchaseSQLite

/// The statements of the queue, each compiled once.
struct QueueStatements {
  let entries: EntryStatements
  let turns: TurnStatements
  let payloads: PayloadStatements
  let tombstones: TombstoneStatements
  let capacity: CapacityStatements
  let facts: FactStatements

  init(_ connection: borrowing Connection) {
    entries = EntryStatements(connection)
    turns = TurnStatements(connection)
    payloads = PayloadStatements(connection)
    tombstones = TombstoneStatements(connection)
    capacity = CapacityStatements(connection)
    facts = FactStatements(connection)
  }
}

/// Statements of the table `entries`.
struct EntryStatements {
  let insert: PreparedStatement
  let byKey: PreparedStatement
  let byPlace: PreparedStatement
  let all: PreparedStatement
  let update: PreparedStatement
  let delete: PreparedStatement
  /// The key of an order's entry or tombstone.
  let ofOrder: PreparedStatement

  init(_ connection: borrowing Connection) {
    let entry = StoredEntry.columns
    // In two steps: in one, SQLite would take the key from the index and not from the row.
    let placeOfKey = "SELECT place FROM entries WHERE key=?"
    insert = PreparedStatement(
      connection, "INSERT INTO entries(\(entry)) VALUES(\(StoredEntry.marks))")
    byKey = PreparedStatement(connection, "SELECT \(entry) FROM entries WHERE place=(\(placeOfKey))")
    byPlace = PreparedStatement(connection, "SELECT \(entry) FROM entries WHERE place=?")
    all = PreparedStatement(connection, "SELECT \(entry) FROM entries ORDER BY place")
    // The values of a whole row are bound. Place and key never change; without the key, its index is not written.
    update = PreparedStatement(
      connection,
      """
      UPDATE entries SET lane=?3, state=?4, ready_at=?5, order_number=?6, attempts=?7, \
      attempted_at=?8, enqueued_at=?9, unprotected=?10, payloads=?11, details=?12, reason=?13, history=?14, \
      notes=?15, checksum=?16 WHERE place=?1
      """)
    delete = PreparedStatement(connection, "DELETE FROM entries WHERE place=?")
    ofOrder = PreparedStatement(
      connection,
      """
      SELECT key FROM entries WHERE order_number=?1 AND key<>?2 UNION ALL \
      SELECT key FROM tombstones WHERE order_number=?1 AND key<>?2 LIMIT 1
      """)
  }
}

/// Statements of the table `payloads`.
struct PayloadStatements {
  let byID: PreparedStatement
  let isStored: PreparedStatement
  let insert: PreparedStatement
  let addToUses: PreparedStatement
  let deleteUnused: PreparedStatement

  init(_ connection: borrowing Connection) {
    isStored = PreparedStatement(connection, "SELECT 1 FROM payloads WHERE id=?")
    byID = PreparedStatement(connection, "SELECT checksum, bytes FROM payloads WHERE id=?")
    insert = PreparedStatement(
      connection, "INSERT OR IGNORE INTO payloads(id, checksum, uses, bytes) VALUES(?,?,1,?)")
    addToUses = PreparedStatement(
      connection, "UPDATE payloads SET uses=max(0, min(uses, 1 << 40))+? WHERE id=?")
    deleteUnused = PreparedStatement(connection, "DELETE FROM payloads WHERE id=? AND uses<=1")
  }
}

/// Statements of the table `tombstones`.
struct TombstoneStatements {
  /// `Tombstone.storedBytes` as SQL.
  static let bytes =
    "(\(Tombstone.rowBytes)"
    + ["key", "key", "lane", "ifnull(order_number, '')", "outcome", "details", "history"]
    .map { "+length(CAST(\($0) AS BLOB))" }.joined() + ")"

  let insert: PreparedStatement
  let byKey: PreparedStatement
  let withDuties: PreparedStatement
  let updateDuties: PreparedStatement
  /// The oldest tombstones without a duty, with their bytes.
  let oldest: PreparedStatement
  let delete: PreparedStatement

  init(_ connection: borrowing Connection) {
    let tombstone = StoredTombstone.columns
    insert = PreparedStatement(
      connection, "INSERT OR IGNORE INTO tombstones(\(tombstone)) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)")
    byKey = PreparedStatement(connection, "SELECT \(tombstone) FROM tombstones WHERE key=?")
    withDuties = PreparedStatement(
      connection,
      "SELECT \(tombstone) FROM tombstones WHERE finish_pending OR unconfirmed ORDER BY settled_at, key")
    updateDuties = PreparedStatement(
      connection, "UPDATE tombstones SET finish_pending=?, unconfirmed=?, checksum=? WHERE key=?")
    oldest = PreparedStatement(
      connection,
      """
      SELECT key, \(Self.bytes) FROM tombstones WHERE NOT (finish_pending OR unconfirmed) AND settled_at<=? \
      ORDER BY settled_at LIMIT ?
      """)
    delete = PreparedStatement(connection, "DELETE FROM tombstones WHERE key=?")
  }
}

/// Statements of the tables `totals` and `reservations`.
struct CapacityStatements {
  let totalsAndKnown: PreparedStatement
  let totals: PreparedStatement
  /// Whether a key has an entry or a tombstone.
  let isKnown: PreparedStatement
  let setTotals: SetTotals
  let cache = TotalsCache()
  let reservation: PreparedStatement
  let insertReservation: PreparedStatement
  let deleteReservation: PreparedStatement

  /// The columns of `totals` in the order in which `Totals` reads them.
  static let columns = """
    last_place, queued, bytes, quarantined, quarantined_bytes, reserved, reserved_bytes, tombstones, unconfirmed, \
    duties, tombstone_bytes, duty_bytes, checksum
    """

  static let columnCount: Int32 = 13

  init(_ connection: borrowing Connection) {
    let columns = Self.columns
    totals = PreparedStatement(connection, "SELECT \(columns) FROM totals")
    // One statement gives an enqueue the totals and the answer whether the key is new, which it nearly always is.
    totalsAndKnown = PreparedStatement(
      connection,
      """
      SELECT \(columns), EXISTS(SELECT 1 FROM entries WHERE key=?1) OR \
      EXISTS(SELECT 1 FROM tombstones WHERE key=?1) FROM totals
      """)
    isKnown = PreparedStatement(
      connection,
      """
      SELECT EXISTS(SELECT 1 FROM entries WHERE key=?1) OR EXISTS(SELECT 1 FROM tombstones WHERE key=?1)
      """)
    let update = PreparedStatement(
      connection,
      """
      UPDATE totals SET last_place=?, queued=?, bytes=?, quarantined=?, quarantined_bytes=?, reserved=?, \
      reserved_bytes=?, tombstones=?, unconfirmed=?, duties=?, tombstone_bytes=?, duty_bytes=?, checksum=? WHERE id=1
      """)
    setTotals = SetTotals(statement: update, cache: cache)
    reservation = PreparedStatement(connection, "SELECT bytes, until FROM reservations WHERE name=?")
    insertReservation = PreparedStatement(
      connection, "INSERT OR REPLACE INTO reservations(name, bytes, until) VALUES(?,?,?)")
    deleteReservation = PreparedStatement(connection, "DELETE FROM reservations WHERE name=?")
  }
}

/// Statements of the table `facts`.
struct FactStatements {
  let get: PreparedStatement
  let set: PreparedStatement

  init(_ connection: borrowing Connection) {
    get = PreparedStatement(connection, "SELECT value, checksum FROM facts WHERE name=?")
    set = PreparedStatement(
      connection, "INSERT OR REPLACE INTO facts(name, value, checksum) VALUES(?,?,?)")
  }
}

import PurchaseSQLite

/// Every statement of the queue, prepared once.
struct QueueStatements {
  let entries: EntryStatements
  let proofs: ProofStatements
  let tombstones: TombstoneStatements
  let room: RoomStatements
  let facts: FactStatements

  private init(_ connection: borrowing Connection) throws(SQLiteError) {
    entries = try EntryStatements(connection)
    proofs = try ProofStatements(connection)
    tombstones = try TombstoneStatements(connection)
    room = try RoomStatements(connection)
    facts = try FactStatements(connection)
  }

  static func all(_ connection: borrowing Connection) throws(QueueError) -> QueueStatements {
    do throws(SQLiteError) {
      return try QueueStatements(connection)
    } catch {
      throw QueueError(error, path: connection.path)
    }
  }
}

/// Statements of the table `entries`.
struct EntryStatements {
  let insert: PreparedStatement
  let byKey: PreparedStatement
  let byPlace: PreparedStatement
  let inLane: PreparedStatement
  let firstReady: PreparedStatement
  let firstPostponed: PreparedStatement
  let all: PreparedStatement
  let lanes: PreparedStatement
  let update: PreparedStatement
  let delete: PreparedStatement

  init(_ connection: borrowing Connection) throws(SQLiteError) {
    let entry = StoredEntry.columns
    insert = try PreparedStatement(
      connection, "INSERT INTO entries(\(entry)) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")
    byKey = try PreparedStatement(connection, "SELECT \(entry) FROM entries WHERE key=?")
    byPlace = try PreparedStatement(connection, "SELECT \(entry) FROM entries WHERE place=?")
    inLane = try PreparedStatement(
      connection, "SELECT \(entry) FROM entries WHERE lane=? AND state='queued' ORDER BY place LIMIT ?")
    firstReady = try PreparedStatement(
      connection, "SELECT place FROM entries WHERE state='queued' AND ready_at=0 ORDER BY place LIMIT 1")
    firstPostponed = try PreparedStatement(
      connection,
      "SELECT place, ready_at FROM entries WHERE state='queued' AND ready_at>0 ORDER BY ready_at, place LIMIT 1"
    )
    all = try PreparedStatement(connection, "SELECT \(entry) FROM entries ORDER BY place")
    // A skip through the index: one seek a lane, however long the lanes are.
    lanes = try PreparedStatement(
      connection,
      """
      WITH RECURSIVE found(lane) AS (
        SELECT min(lane) FROM entries WHERE state='queued'
        UNION ALL
        SELECT (SELECT min(lane) FROM entries WHERE state='queued' AND lane>found.lane) FROM found
        WHERE found.lane IS NOT NULL
      ) SELECT lane FROM found WHERE lane IS NOT NULL
      """)
    // The values of a whole row are bound; place and key never change, and not naming the key spares its index.
    update = try PreparedStatement(
      connection,
      """
      UPDATE entries SET lane=?3, state=?4, ready_at=?5, order_number=?6, attempts=?7, \
      attempted_at=?8, enqueued_at=?9, unprotected=?10, proofs=?11, details=?12, reason=?13, history=?14, \
      checksum=?15 WHERE place=?1
      """)
    delete = try PreparedStatement(connection, "DELETE FROM entries WHERE place=?")
  }
}

/// Statements of the table `proofs`.
struct ProofStatements {
  let byID: PreparedStatement
  let insert: PreparedStatement
  let addToUses: PreparedStatement
  let deleteUnused: PreparedStatement

  init(_ connection: borrowing Connection) throws(SQLiteError) {
    byID = try PreparedStatement(connection, "SELECT checksum, bytes FROM proofs WHERE id=?")
    insert = try PreparedStatement(
      connection, "INSERT INTO proofs(id, checksum, uses, bytes) VALUES(?,?,1,?)")
    addToUses = try PreparedStatement(connection, "UPDATE proofs SET uses=uses+? WHERE id=?")
    deleteUnused = try PreparedStatement(connection, "DELETE FROM proofs WHERE id=? AND uses<=1")
  }
}

/// Statements of the table `tombstones`.
struct TombstoneStatements {
  let insert: PreparedStatement
  let byKey: PreparedStatement
  let withDuties: PreparedStatement
  let updateDuties: PreparedStatement
  let dropOldest: PreparedStatement

  init(_ connection: borrowing Connection) throws(SQLiteError) {
    let tombstone = StoredTombstone.columns
    insert = try PreparedStatement(
      connection, "INSERT OR REPLACE INTO tombstones(\(tombstone)) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)")
    byKey = try PreparedStatement(connection, "SELECT \(tombstone) FROM tombstones WHERE key=?")
    withDuties = try PreparedStatement(
      connection, "SELECT \(tombstone) FROM tombstones WHERE finish_owed OR unseen ORDER BY sequence")
    updateDuties = try PreparedStatement(
      connection, "UPDATE tombstones SET finish_owed=?, unseen=?, checksum=? WHERE key=?")
    dropOldest = try PreparedStatement(
      connection,
      """
      DELETE FROM tombstones WHERE sequence=(
        SELECT sequence FROM tombstones WHERE NOT (finish_owed OR unseen) AND settled_at<=? \
      ORDER BY sequence LIMIT 1)
      """)
  }
}

/// Statements of the tables `totals` and `reservations`.
struct RoomStatements {
  let totals: PreparedStatement
  let setTotals: PreparedStatement
  let reservation: PreparedStatement
  let insertReservation: PreparedStatement
  let deleteReservation: PreparedStatement

  init(_ connection: borrowing Connection) throws(SQLiteError) {
    totals = try PreparedStatement(
      connection,
      """
      SELECT last_place, queued, bytes, quarantined, quarantined_bytes, reserved, reserved_bytes, tombstones, \
      unseen, checksum FROM totals
      """)
    setTotals = try PreparedStatement(
      connection,
      """
      UPDATE totals SET last_place=?, queued=?, bytes=?, quarantined=?, quarantined_bytes=?, reserved=?, \
      reserved_bytes=?, tombstones=?, unseen=?, checksum=? WHERE id=1
      """)
    reservation = try PreparedStatement(connection, "SELECT bytes, until FROM reservations WHERE name=?")
    insertReservation = try PreparedStatement(
      connection, "INSERT OR REPLACE INTO reservations(name, bytes, until) VALUES(?,?,?)")
    deleteReservation = try PreparedStatement(connection, "DELETE FROM reservations WHERE name=?")
  }
}

/// Statements of the table `facts`.
struct FactStatements {
  let get: PreparedStatement
  let set: PreparedStatement

  init(_ connection: borrowing Connection) throws(SQLiteError) {
    get = try PreparedStatement(connection, "SELECT value, checksum FROM facts WHERE name=?")
    set = try PreparedStatement(
      connection, "INSERT OR REPLACE INTO facts(name, value, checksum) VALUES(?,?,?)")
  }
}

import PurchaseSQLite

/// Every statement of the queue, prepared once.
struct QueueStatements {
  let insertEntry: PreparedStatement
  let entryByKey: PreparedStatement
  let entriesOfLane: PreparedStatement
  let headOfLane: PreparedStatement
  let allEntries: PreparedStatement
  let lanes: PreparedStatement
  let lastPlace: PreparedStatement
  let updateEntry: PreparedStatement
  let deleteEntry: PreparedStatement

  let proofsByChecksum: PreparedStatement
  let insertProof: PreparedStatement
  let proofBytes: PreparedStatement
  let deleteProofIfUnused: PreparedStatement
  let linkProof: PreparedStatement
  let proofsOfEntry: PreparedStatement

  let insertTombstone: PreparedStatement
  let tombstoneByKey: PreparedStatement
  let tombstonesWithDuties: PreparedStatement
  let updateDuties: PreparedStatement

  let totals: PreparedStatement
  let addToTotals: PreparedStatement
  let fact: PreparedStatement
  let setFact: PreparedStatement

  private static let entryColumns = """
    place, key, lane, order_number, details, state, enqueued_at, attempts, attempted_at, ready_at, unprotected, \
    checksum
    """
  private static let tombstoneColumns =
    "key, lane, order_number, outcome, details, settled_at, finish_owed, unseen, checksum"

  init(_ connection: borrowing Connection) throws(SQLiteError) {
    let entry = Self.entryColumns
    let tombstone = Self.tombstoneColumns
    insertEntry = try PreparedStatement(
      connection, "INSERT INTO entries(\(entry)) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)")
    entryByKey = try PreparedStatement(connection, "SELECT \(entry) FROM entries WHERE key=?")
    entriesOfLane = try PreparedStatement(
      connection, "SELECT \(entry) FROM entries WHERE lane=? AND state=? ORDER BY place LIMIT ?")
    headOfLane = try PreparedStatement(
      connection, "SELECT \(entry) FROM entries WHERE lane=? AND state='queued' ORDER BY place LIMIT 1")
    allEntries = try PreparedStatement(connection, "SELECT \(entry) FROM entries ORDER BY place")
    lanes = try PreparedStatement(connection, "SELECT DISTINCT lane FROM entries")
    lastPlace = try PreparedStatement(connection, "SELECT max(place) FROM entries")
    updateEntry = try PreparedStatement(
      connection,
      """
      UPDATE entries SET lane=?, order_number=?, details=?, state=?, attempts=?, attempted_at=?, ready_at=?, \
      unprotected=?, checksum=? WHERE place=?
      """)
    deleteEntry = try PreparedStatement(connection, "DELETE FROM entries WHERE place=?")

    proofsByChecksum = try PreparedStatement(
      connection, "SELECT id, bytes FROM proofs WHERE checksum=? AND size=?")
    insertProof = try PreparedStatement(connection, "INSERT INTO proofs(checksum, size, bytes) VALUES(?,?,?)")
    proofBytes = try PreparedStatement(connection, "SELECT bytes, checksum FROM proofs WHERE id=?")
    deleteProofIfUnused = try PreparedStatement(
      connection,
      "DELETE FROM proofs WHERE id=? AND NOT EXISTS (SELECT 1 FROM entry_proofs WHERE proof=proofs.id)")
    linkProof = try PreparedStatement(
      connection,
      "INSERT INTO entry_proofs(place, kind, proof) VALUES(?,?,?) ON CONFLICT DO UPDATE SET proof=excluded.proof"
    )
    proofsOfEntry = try PreparedStatement(
      connection,
      "SELECT kind, id, size FROM entry_proofs JOIN proofs ON id=proof WHERE place=? ORDER BY kind")

    insertTombstone = try PreparedStatement(
      connection, "INSERT OR REPLACE INTO tombstones(\(tombstone)) VALUES(?,?,?,?,?,?,?,?,?)")
    tombstoneByKey = try PreparedStatement(connection, "SELECT \(tombstone) FROM tombstones WHERE key=?")
    tombstonesWithDuties = try PreparedStatement(
      connection, "SELECT \(tombstone) FROM tombstones WHERE finish_owed OR unseen ORDER BY settled_at, key")
    updateDuties = try PreparedStatement(
      connection, "UPDATE tombstones SET finish_owed=?, unseen=?, checksum=? WHERE key=?")

    totals = try PreparedStatement(connection, "SELECT entries, bytes FROM totals")
    addToTotals = try PreparedStatement(connection, "UPDATE totals SET entries=entries+?, bytes=bytes+?")
    fact = try PreparedStatement(connection, "SELECT value FROM facts WHERE name=?")
    setFact = try PreparedStatement(connection, "INSERT OR REPLACE INTO facts(name, value) VALUES(?,?)")
  }

  static func all(_ connection: borrowing Connection) throws(QueueError) -> QueueStatements {
    do throws(SQLiteError) {
      return try QueueStatements(connection)
    } catch {
      throw QueueError(error, path: connection.path)
    }
  }
}

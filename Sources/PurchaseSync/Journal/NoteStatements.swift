import PurchaseSQLite

/// The statements of `SyncNotes`, compiled once: some run with every acknowledgement.
struct NoteStatements {
  let watch: PreparedStatement
  let keepWatch: PreparedStatement
  let forgetWatch: PreparedStatement
  let wait: PreparedStatement
  let keepWait: PreparedStatement
  let forgetWait: PreparedStatement
  let oweUpdate: PreparedStatement
  let pendingUpdates: PreparedStatement
  let endPendingUpdate: PreparedStatement
  let adoptions: PreparedStatement
  let keepAdoption: PreparedStatement
  let endAdoption: PreparedStatement
  let heldInLane: PreparedStatement

  init(_ connection: borrowing Connection) {
    watch = PreparedStatement(
      connection,
      "SELECT failed_rounds, failing_since, unknown_answers, claims_per_upload FROM watches WHERE key=?")
    keepWatch = PreparedStatement(connection, "INSERT OR REPLACE INTO watches VALUES(?,?,?,?,?)")
    forgetWatch = PreparedStatement(connection, "DELETE FROM watches WHERE key=?")
    wait = PreparedStatement(connection, "SELECT cause, began, milliseconds, asked FROM waits WHERE key=?")
    keepWait = PreparedStatement(connection, "INSERT OR REPLACE INTO waits VALUES(?,?,?,?,?)")
    forgetWait = PreparedStatement(connection, "DELETE FROM waits WHERE key=?")
    oweUpdate = PreparedStatement(
      connection,
      """
      INSERT INTO pending_updates(key, details) VALUES(?,?)
      ON CONFLICT(key) DO UPDATE SET details=coalesce(excluded.details, details)
      """)
    pendingUpdates = PreparedStatement(
      connection, "SELECT place, key, details FROM pending_updates ORDER BY place LIMIT ?")
    endPendingUpdate = PreparedStatement(connection, "DELETE FROM pending_updates WHERE place=?")
    adoptions = PreparedStatement(
      connection, "SELECT account, through_place FROM device_adoptions ORDER BY sequence")
    keepAdoption = PreparedStatement(
      connection,
      """
      INSERT INTO device_adoptions(account, through_place) VALUES(?,?)
      ON CONFLICT(account) DO UPDATE SET through_place=excluded.through_place
      """)
    endAdoption = PreparedStatement(
      connection, "DELETE FROM device_adoptions WHERE account=? AND through_place<=?")
    heldInLane = PreparedStatement(
      connection, "SELECT 1 FROM entries WHERE lane=? AND place<=? LIMIT 1")
  }
}

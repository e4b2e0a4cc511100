import PurchaseSQLite

/// The statements of `SyncNotes`, each compiled once: some of them run with every acknowledgement.
struct NoteStatements {
  let watch: PreparedStatement
  let keepWatch: PreparedStatement
  let forgetWatch: PreparedStatement
  let oweUpdate: PreparedStatement
  let owedUpdates: PreparedStatement
  let endOwedUpdate: PreparedStatement
  let claims: PreparedStatement
  let keepClaim: PreparedStatement
  let endClaim: PreparedStatement
  let heldInLane: PreparedStatement

  init(_ connection: borrowing Connection) {
    watch = PreparedStatement(
      connection, "SELECT failed_rounds, failing_since, unknown_answers FROM watches WHERE key=?")
    keepWatch = PreparedStatement(connection, "INSERT OR REPLACE INTO watches VALUES(?,?,?,?)")
    forgetWatch = PreparedStatement(connection, "DELETE FROM watches WHERE key=?")
    oweUpdate = PreparedStatement(
      connection,
      """
      INSERT INTO owed_updates(key, details) VALUES(?,?)
      ON CONFLICT(key) DO UPDATE SET details=coalesce(excluded.details, details)
      """)
    owedUpdates = PreparedStatement(
      connection, "SELECT place, key, details FROM owed_updates ORDER BY place LIMIT ?")
    endOwedUpdate = PreparedStatement(connection, "DELETE FROM owed_updates WHERE place=?")
    claims = PreparedStatement(
      connection, "SELECT account, through_place FROM device_claims ORDER BY account")
    keepClaim = PreparedStatement(connection, "INSERT OR REPLACE INTO device_claims VALUES(?,?)")
    endClaim = PreparedStatement(connection, "DELETE FROM device_claims WHERE account=? AND through_place<=?")
    heldInLane = PreparedStatement(
      connection, "SELECT 1 FROM entries WHERE lane=? AND place<=? LIMIT 1")
  }
}

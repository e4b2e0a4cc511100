import PurchaseSQLite

/// The statements of `SyncFile+Updates`, compiled once: some run with every acknowledgement.
struct UpdateStatements {
  let oweUpdate: PreparedStatement
  let oweEverything: PreparedStatement
  let nextPendingUpdate: PreparedStatement
  let endPendingUpdate: PreparedStatement
  let adoptions: PreparedStatement
  let keepAdoption: PreparedStatement
  let endAdoption: PreparedStatement
  let heldInLane: PreparedStatement

  init(_ connection: borrowing Connection) {
    oweUpdate = PreparedStatement(
      connection,
      """
      INSERT INTO pending_updates(key, details) VALUES(?,?)
      ON CONFLICT(key) DO UPDATE SET details=coalesce(excluded.details, details)
      """)
    oweEverything = PreparedStatement(
      connection,
      """
      INSERT OR IGNORE INTO pending_updates(key)
      SELECT key FROM tombstones WHERE outcome<>'discarded' ORDER BY settled_at, key
      """)
    nextPendingUpdate = PreparedStatement(
      connection, "SELECT place, key, details FROM pending_updates ORDER BY place LIMIT 1")
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

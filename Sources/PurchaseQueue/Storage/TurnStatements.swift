import PurchaseSQLite

/// Statements that find the next entries to send. A queued entry is in one of two indexes: `entries_ready`, or
/// `entries_postponed`, which is empty while no entry is postponed.
struct TurnStatements {
  let peek: PreparedStatement
  let head: PreparedStatement
  /// The first of a lane by place.
  let first: PreparedStatement
  /// The entries of a lane that may be sent, in order.
  let ready: PreparedStatement
  /// The same of a lane without postponed entries.
  let neverPostponed: PreparedStatement
  let firstReady: PreparedStatement
  let firstPostponed: PreparedStatement
  let firstPostponedInLane: PreparedStatement
  /// With `+`, SQLite reads the few of the index and sorts them. Without, it reads all entries in their sequence.
  let postponedBeyond: PreparedStatement
  let lanes: PreparedStatement

  private static let isReady = "state='queued' AND ready_at=0"
  private static let isPostponed = "state='queued' AND ready_at<>0"
  /// The index selects the rows, and every column is read from its row: so damage to either is found.
  private static let columns = StoredEntry.columns.split(separator: ", ").map { "row." + $0 }
    .joined(separator: ", ")
  /// A subquery with one row: the place of the lane's first entry.
  private static let firstOfLane = """
    (SELECT min(place) AS first FROM (
      SELECT min(place) AS place FROM entries WHERE lane=?1 AND \(isReady)
      UNION ALL SELECT min(place) FROM entries WHERE lane=?1 AND \(isPostponed)))
    """

  init(_ connection: borrowing Connection) {
    let (isReady, isPostponed, columns) = (Self.isReady, Self.isPostponed, Self.columns)
    head = PreparedStatement(
      connection,
      """
      SELECT \(columns) FROM \(Self.firstOfLane) LEFT JOIN entries AS row ON row.place=first \
      WHERE first IS NOT NULL
      """)
    // The text of the payloads begins with the number of the first.
    peek = PreparedStatement(
      connection,
      """
      SELECT \(columns), payloads.checksum, payloads.bytes \
      FROM \(Self.firstOfLane) LEFT JOIN entries AS row ON row.place=first \
      LEFT JOIN payloads ON payloads.id=CAST(row.payloads AS INTEGER) WHERE first IS NOT NULL
      """)
    first = PreparedStatement(
      connection,
      """
      SELECT \(columns) FROM (
        SELECT place FROM (
          SELECT place FROM entries WHERE lane=?1 AND \(isReady) ORDER BY place LIMIT ?2)
        UNION ALL SELECT place FROM (
          SELECT place FROM entries WHERE lane=?1 AND \(isPostponed) ORDER BY place LIMIT ?2)
        ORDER BY place LIMIT ?2) AS found
      LEFT JOIN entries AS row ON row.place=found.place ORDER BY found.place
      """)
    ready = PreparedStatement(
      connection,
      """
      SELECT \(columns) FROM (
        SELECT turn, due, place FROM (
          SELECT ?4 AS turn, 0 AS due, place FROM entries WHERE lane=?1 AND \(isReady) ORDER BY place LIMIT ?2)
        UNION ALL SELECT turn, due, place FROM (
          SELECT 1-?4 AS turn, ready_at AS due, place FROM entries
          WHERE lane=?1 AND \(isPostponed) AND ready_at<=?3 ORDER BY ready_at, place LIMIT ?2)
        ORDER BY turn, due, place LIMIT ?2) AS found
      LEFT JOIN entries AS row ON row.place=found.place ORDER BY found.turn, found.due, found.place
      """)
    neverPostponed = PreparedStatement(
      connection,
      """
      SELECT \(columns) FROM (
        SELECT place FROM entries WHERE lane=?1 AND \(isReady) ORDER BY place LIMIT ?2) AS found
      LEFT JOIN entries AS row ON row.place=found.place ORDER BY found.place
      """)
    firstReady = PreparedStatement(
      connection,
      """
      WITH RECURSIVE \(Self.skip(isReady))
      SELECT min(first) FROM (
        SELECT (SELECT min(place) FROM entries WHERE lane=found.lane AND \(isReady)) AS first FROM found)
      """)
    firstPostponed = PreparedStatement(
      connection, "SELECT place, ready_at FROM entries WHERE \(isPostponed) ORDER BY ready_at, place LIMIT 1")
    firstPostponedInLane = PreparedStatement(
      connection, "SELECT min(ready_at) FROM entries WHERE lane=? AND \(isPostponed)")
    postponedBeyond = PreparedStatement(
      connection,
      """
      SELECT \(columns) FROM (SELECT place FROM entries WHERE \(isPostponed) AND ready_at>?) AS found
      LEFT JOIN entries AS row ON row.place=found.place ORDER BY +found.place
      """)
    lanes = PreparedStatement(
      connection,
      """
      WITH RECURSIVE \(Self.skip(isReady)), \(Self.skip(isPostponed, as: "late"))
      SELECT lane FROM found WHERE lane IS NOT NULL UNION SELECT lane FROM late WHERE lane IS NOT NULL
      """)
  }

  /// A common table expression that lists lanes by skipping through an index: one seek for each lane, however long it
  /// is.
  private static func skip(_ condition: String, as name: String = "found") -> String {
    """
    \(name)(lane) AS (
      SELECT min(lane) FROM entries WHERE \(condition)
      UNION ALL
      SELECT (SELECT min(lane) FROM entries WHERE \(condition) AND lane>\(name).lane) FROM \(name)
      WHERE \(name).lane IS NOT NULL)
    """
  }
}

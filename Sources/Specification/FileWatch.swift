import PurchaseQueue
package import PurchaseSQLite

/// Reads a queue's file on its own connection: it sees committed content only.
package final class FileWatch {
  package struct Row: Equatable, Sendable {
    package var place: Int64
    package var lane: String
    package var isQueued: Bool
    package var attempts: Int
    package var order: String?

    package init(
      place: Int64, lane: String, isQueued: Bool = true, attempts: Int = 0, order: String? = nil
    ) {
      (self.place, self.lane, self.isQueued) = (place, lane, isQueued)
      (self.attempts, self.order) = (attempts, order)
    }
  }

  package struct Stone: Equatable, Sendable {
    package var outcome: String
    package var hasPendingFinish: Bool
    package var isUnconfirmed: Bool
    package var order: String?

    package init(
      outcome: String, hasPendingFinish: Bool = false, isUnconfirmed: Bool = false, order: String? = nil
    ) {
      (self.outcome, self.hasPendingFinish) = (outcome, hasPendingFinish)
      (self.isUnconfirmed, self.order) = (isUnconfirmed, order)
    }
  }

  /// The committed content, by key.
  package struct Content: Equatable, Sendable {
    package var rows: [String: Row] = [:]
    package var stones: [String: Stone] = [:]

    package init() {}

    /// Whether a power cut of a file with the later content may leave this one: it differs in nothing but what is promised
    /// soon, which is attempts and the ends of duties.
    package func mayPrecede(_ later: Content) -> Bool {
      let areSame =
        rows.count == later.rows.count
        && rows.allSatisfy { key, row in
          guard var after = later.rows[key], after.attempts >= row.attempts else { return false }
          after.attempts = row.attempts
          return after == row
        }
      return areSame
        && later.stones.allSatisfy { key, after in
          guard var stone = stones[key] else { return false }
          guard stone.hasPendingFinish || !after.hasPendingFinish, stone.isUnconfirmed || !after.isUnconfirmed
          else { return false }
          (stone.hasPendingFinish, stone.isUnconfirmed) = (after.hasPendingFinish, after.isUnconfirmed)
          return stone == after
        }
    }
  }

  private let version: PreparedStatement
  private let entries: PreparedStatement
  private let tombstones: PreparedStatement
  private let pending: PreparedStatement
  private let handedOut: PreparedStatement
  private let connection: Holder
  private var seen: Int64 = -1
  package private(set) var content = Content()

  /// Keeps the connection alive, which cannot be copied.
  private final class Holder {
    let connection: Connection
    init(_ connection: consuming Connection) { self.connection = connection }
  }

  /// - Parameter leavesLog: Closing this watch leaves the log of a file that no process has open as it is.
  package init(path: String, leavesLog: Bool = false) throws(SQLiteError) {
    connection = Holder(try Connection(path: path, access: .readWrite))
    if leavesLog { connection.connection.leaveUntouchedOnClose() }
    version = PreparedStatement(connection.connection, "PRAGMA data_version")
    entries = PreparedStatement(
      connection.connection, "SELECT key, place, lane, state, attempts, order_number FROM entries")
    tombstones = PreparedStatement(
      connection.connection, "SELECT key, outcome, finish_pending, unconfirmed, order_number FROM tombstones")
    pending = PreparedStatement(
      connection.connection, "SELECT key FROM pending_updates ORDER BY place LIMIT 1")
    handedOut = PreparedStatement(
      connection.connection,
      "SELECT number, begun_at FROM orders WHERE origin='begun' AND begun_at IS NOT NULL")
  }

  /// When this installation has handed out each order last, in milliseconds of the device's clock, by the order's number.
  package func momentsHandedOut() throws(SQLiteError) -> [String: Int64] {
    let rows = try handedOut.all { ($0.text(0), $0.integer(1)) }
    return Dictionary(uniqueKeysWithValues: rows)
  }

  /// The first key with an pending update.
  package func pendingUpdate() throws(SQLiteError) -> String? { try pending.first { $0.text(0) } }

  /// Reads `content` again; false if nothing was committed since the last call.
  package func look() throws(SQLiteError) -> Bool {
    let now = try version.first { $0.integer(0) } ?? -1
    guard now != seen else { return false }
    seen = now
    // Both tables as of one commit: another process may write in the meantime.
    try connection.connection.execute("BEGIN")
    defer { end() }
    let rows = try entries.all { row in
      (
        row.text(0),
        Row(
          place: row.integer(1), lane: row.text(2), isQueued: row.text(3) == "queued",
          attempts: Int(row.integer(4)), order: row.optionalText(5))
      )
    }
    let stones = try tombstones.all { row in
      (
        row.text(0),
        Stone(
          outcome: row.text(1), hasPendingFinish: row.flag(2), isUnconfirmed: row.flag(3),
          order: row.optionalText(4))
      )
    }
    var content = Content()
    for (key, row) in rows { content.rows[key] = row }
    for (key, stone) in stones { content.stones[key] = stone }
    self.content = content
    return true
  }

  /// A transaction that only reads has nothing to lose at its end.
  private func end() {
    do throws(SQLiteError) { try connection.connection.execute("ROLLBACK") } catch { seen = -1 }
  }

  /// Moves the whole log into the file.
  package func gather() throws(SQLiteError) {
    try connection.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }
}

import PurchaseQueue
import PurchaseSQLite

/// Reads a queue's file on its own connection: it sees committed content only.
final class FileWatch {
  struct Row: Equatable {
    var place: Int64
    var lane: String
    var isQueued: Bool
    var attempts: Int
    var order: String?
  }

  struct Stone: Equatable {
    var outcome: String
    var owesFinish: Bool
    var isUnseen: Bool
    var order: String?
  }

  /// The committed content, by key.
  struct Content: Equatable {
    var rows: [String: Row] = [:]
    var stones: [String: Stone] = [:]
  }

  private let version: PreparedStatement
  private let entries: PreparedStatement
  private let tombstones: PreparedStatement
  private let owed: PreparedStatement
  private let connection: Holder
  private var seen: Int64 = -1
  private(set) var content = Content()

  /// Keeps the connection alive, which cannot be copied.
  private final class Holder {
    let connection: Connection
    init(_ connection: consuming Connection) { self.connection = connection }
  }

  init(path: String) throws(SQLiteError) {
    connection = Holder(try Connection(path: path, access: .readWrite))
    version = PreparedStatement(connection.connection, "PRAGMA data_version")
    entries = PreparedStatement(
      connection.connection, "SELECT key, place, lane, state, attempts, order_number FROM entries")
    tombstones = PreparedStatement(
      connection.connection, "SELECT key, outcome, finish_owed, unseen, order_number FROM tombstones")
    owed = PreparedStatement(connection.connection, "SELECT key FROM owed_updates ORDER BY place LIMIT 1")
  }

  /// The first key with an owed update.
  func owedUpdate() throws(SQLiteError) -> String? { try owed.first { $0.text(0) } }

  /// Reads `content` again; false if nothing was committed since the last call.
  func look() throws(SQLiteError) -> Bool {
    let now = try version.first { $0.integer(0) } ?? -1
    guard now != seen else { return false }
    seen = now
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
          outcome: row.text(1), owesFinish: row.flag(2), isUnseen: row.flag(3), order: row.optionalText(4))
      )
    }
    var content = Content()
    for (key, row) in rows { content.rows[key] = row }
    for (key, stone) in stones { content.stones[key] = stone }
    self.content = content
    return true
  }

  /// Moves the whole log into the file.
  func gather() throws(SQLiteError) { try connection.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
}

import CPurchaseSQLite

/// The smallest queue in SQLite: one table, prepared statements, a write-ahead log that is synced at each commit, and
/// otherwise SQLite's defaults. It has no limits, checksums or lanes.
@safe final class SQLiteLoopSubject: BenchSubject {
  /// What it keeps in addition to the payloads.
  enum Kind {
    case bare
    /// With what a queue promises at least: a key enters once, and the number of entries and bytes is known at once.
    case counted
  }

  private let kind: Kind
  private var database: OpaquePointer?
  private var insert: OpaquePointer?
  private var first: OpaquePointer?
  private var delete: OpaquePointer?
  private var count: OpaquePointer?
  private var begin: OpaquePointer?
  private var commit: OpaquePointer?
  private var serial = Int64(1_000_000)

  init(path: String, _ kind: Kind = .bare) throws {
    self.kind = kind
    try check(unsafe sqlite3_open(path, &database), "open")
    for sql in [
      "PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL",
      "CREATE TABLE IF NOT EXISTS queue(id INTEGER PRIMARY KEY, payload BLOB\(kind == .bare ? "" : ", key TEXT UNIQUE"))",
      "CREATE TABLE IF NOT EXISTS totals(id INTEGER PRIMARY KEY, entries INTEGER, bytes INTEGER)",
      "INSERT OR IGNORE INTO totals VALUES(1, 0, 0)",
    ] {
      try check(unsafe sqlite3_exec(database, sql, nil, nil, nil), sql)
    }
    unsafe insert = try prepare(
      kind == .bare
        ? "INSERT INTO queue(payload) VALUES(?1)"
        : "INSERT INTO queue(payload, key) VALUES(?1, 'sandbox/' || ?2)")
    unsafe count = try prepare("UPDATE totals SET entries=entries+?, bytes=bytes+? WHERE id=1")
    unsafe begin = try prepare("BEGIN IMMEDIATE")
    unsafe commit = try prepare("COMMIT")
    unsafe first = try prepare("SELECT id, payload FROM queue ORDER BY id LIMIT 1")
    unsafe delete = try prepare("DELETE FROM queue WHERE id=?")
  }

  deinit { finish() }

  func enqueue(_ payload: [UInt8]) throws {
    try unsafe payload.withUnsafeBytes { bytes in
      // A nil destructor is SQLITE_STATIC: the bytes outlive the step, and are not copied.
      try check(unsafe sqlite3_bind_blob64(insert, 1, bytes.baseAddress, UInt64(bytes.count), nil), "bind")
      guard kind == .counted else { return try unsafe stepToEnd(insert) }
      serial += 1
      try check(unsafe sqlite3_bind_int64(insert, 2, serial), "bind")
      try unsafe stepToEnd(begin)
      try unsafe stepToEnd(insert)
      try add(entries: 1, bytes: bytes.count)
      try unsafe stepToEnd(commit)
    }
  }

  /// Reads the first payload.
  func peek() throws {
    guard unsafe sqlite3_step(first) == SQLITE_ROW else { throw BenchError.emptyQueue }
    try check(unsafe sqlite3_reset(first), "reset")
  }

  func acknowledge() throws {
    guard unsafe sqlite3_step(first) == SQLITE_ROW else { throw BenchError.emptyQueue }
    let id = unsafe sqlite3_column_int64(first, 0)
    let payload = unsafe sqlite3_column_blob(first, 1)
    let count = unsafe Int(sqlite3_column_bytes(first, 1))
    guard unsafe payload != nil, count > 0 else { throw BenchError.wrongPayload(expected: 1, found: count) }
    // Ends the read transaction, so that the delete has its own commit.
    try check(unsafe sqlite3_reset(first), "reset")
    try check(unsafe sqlite3_bind_int64(delete, 1, id), "bind")
    guard kind == .counted else { return try unsafe stepToEnd(delete) }
    try unsafe stepToEnd(begin)
    try unsafe stepToEnd(delete)
    try add(entries: -1, bytes: -count)
    try unsafe stepToEnd(commit)
  }

  private func add(entries: Int64, bytes: Int) throws {
    try check(unsafe sqlite3_bind_int64(self.count, 1, entries), "bind")
    try check(unsafe sqlite3_bind_int64(self.count, 2, Int64(bytes)), "bind")
    try unsafe stepToEnd(self.count)
  }

  func close() { finish() }

  private func finish() {
    unsafe _ = sqlite3_finalize(insert)
    unsafe _ = sqlite3_finalize(first)
    unsafe _ = sqlite3_finalize(delete)
    unsafe _ = sqlite3_finalize(count)
    unsafe _ = sqlite3_finalize(begin)
    unsafe _ = sqlite3_finalize(commit)
    unsafe _ = sqlite3_close(database)
    unsafe (database, insert, first, delete) = (nil, nil, nil, nil)
    unsafe (count, begin, commit) = (nil, nil, nil)
  }

  private func prepare(_ sql: String) throws -> OpaquePointer? {
    var statement: OpaquePointer?
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    try check(unsafe sqlite3_prepare_v3(database, sql, -1, flags, &statement, nil), sql)
    return unsafe statement
  }

  private func stepToEnd(_ statement: OpaquePointer?) throws {
    let result = unsafe sqlite3_step(statement)
    guard result == SQLITE_DONE else { throw BenchError.sqlite(code: result, doing: "step") }
    try check(unsafe sqlite3_reset(statement), "reset")
  }

  private func check(_ result: Int32, _ doing: String) throws {
    guard result == SQLITE_OK else { throw BenchError.sqlite(code: result, doing: doing) }
  }
}

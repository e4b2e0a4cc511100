import CPurchaseSQLite

/// The smallest queue in SQLite: one table, prepared statements, a write-ahead log that is synced at each commit, and
/// otherwise SQLite's defaults. It has no deduplication, limits, checksums or lanes.
@safe final class SQLiteLoopSubject: BenchSubject {
  private var database: OpaquePointer?
  private var insert: OpaquePointer?
  private var first: OpaquePointer?
  private var delete: OpaquePointer?

  init(path: String) throws {
    try check(unsafe sqlite3_open(path, &database), "open")
    for sql in [
      "PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL",
      "CREATE TABLE IF NOT EXISTS queue(id INTEGER PRIMARY KEY, payload BLOB)",
    ] {
      try check(unsafe sqlite3_exec(database, sql, nil, nil, nil), sql)
    }
    unsafe insert = try prepare("INSERT INTO queue(payload) VALUES(?)")
    unsafe first = try prepare("SELECT id, payload FROM queue ORDER BY id LIMIT 1")
    unsafe delete = try prepare("DELETE FROM queue WHERE id=?")
  }

  deinit { finish() }

  func enqueue(_ payload: [UInt8]) throws {
    try unsafe payload.withUnsafeBytes { bytes in
      // A nil destructor is SQLITE_STATIC: the bytes outlive the step, and are not copied.
      try check(unsafe sqlite3_bind_blob64(insert, 1, bytes.baseAddress, UInt64(bytes.count), nil), "bind")
      try unsafe stepToEnd(insert)
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
    try unsafe stepToEnd(delete)
  }

  func close() { finish() }

  private func finish() {
    unsafe _ = sqlite3_finalize(insert)
    unsafe _ = sqlite3_finalize(first)
    unsafe _ = sqlite3_finalize(delete)
    unsafe _ = sqlite3_close(database)
    unsafe (database, insert, first, delete) = (nil, nil, nil, nil)
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

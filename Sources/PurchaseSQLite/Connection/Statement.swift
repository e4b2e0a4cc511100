import CPurchaseSQLite

/// A prepared statement. It is finalized when it goes out of scope.
///
/// Not thread safe: it belongs to the thread (or actor) of its connection.
@safe package struct Statement: ~Copyable {
  private let statement: OpaquePointer
  private let database: OpaquePointer
  package let sql: String

  init(database: OpaquePointer, sql: String) throws(SQLiteError) {
    var prepared: OpaquePointer?
    // PERSISTENT: "a hint to the query planner that the prepared statement will be retained for a long time".
    let result = unsafe sqlite3_prepare_v3(
      database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    try unsafe SQLiteError.check(result, database, sql: sql)
    guard let prepared = unsafe prepared else {
      throw SQLiteError(code: .error, message: "no SQL in the text", sql: sql)
    }
    unsafe self.statement = prepared
    unsafe self.database = database
    self.sql = sql
  }

  deinit { unsafe _ = sqlite3_finalize(statement) }

  /// An empty C string that never moves.
  private nonisolated(unsafe) static let empty: UnsafePointer<CChar> = {
    let bytes = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
    unsafe bytes.initialize(to: 0)
    return unsafe UnsafePointer(bytes)
  }()

  /// Runs a statement that returns no rows.
  package func run(_ values: [SQLValue] = []) throws(SQLiteError) {
    defer { reset() }
    try bind(values)
    while try step() {}
  }

  /// The first row, or nil when there is none.
  package func first<R>(_ values: [SQLValue] = [], _ read: (borrowing Row) -> R) throws(SQLiteError) -> R? {
    defer { reset() }
    try bind(values)
    guard try step() else { return nil }
    return read(unsafe Row(statement: statement))
  }

  /// Every row, in the statement's order.
  package func all<R>(_ values: [SQLValue] = [], _ read: (borrowing Row) -> R) throws(SQLiteError) -> [R] {
    defer { reset() }
    try bind(values)
    var rows: [R] = []
    while try step() { rows.append(read(unsafe Row(statement: statement))) }
    return rows
  }

  /// The rows before the first damaged one, and whether these are all rows. Throws if the device fails or the database is
  /// locked: then the rows may be intact and readable later.
  package func allReadable<R>(
    _ values: [SQLValue] = [], _ read: (borrowing Row) -> R
  ) throws(SQLiteError) -> (rows: [R], isComplete: Bool) {
    defer { reset() }
    var rows: [R] = []
    do throws(SQLiteError) {
      try bind(values)
      while try step() { rows.append(read(unsafe Row(statement: statement))) }
    } catch  where error.code.primary == .corrupt || error.code.primary == .notADatabase {
      return (rows, false)
    }
    return (rows, true)
  }

  private func step() throws(SQLiteError) -> Bool {
    let result = unsafe sqlite3_step(statement)
    if result == SQLITE_ROW { return true }
    try unsafe SQLiteError.check(result, database, sql: sql)
    return false
  }

  /// Ends the read transaction of the statement and releases bound bytes.
  private func reset() {
    // sqlite3_reset repeats the error of the last step, which has been thrown already.
    unsafe _ = sqlite3_reset(statement)
    unsafe _ = sqlite3_clear_bindings(statement)
  }

  private func bind(_ values: [SQLValue]) throws(SQLiteError) {
    let expected = unsafe Int(sqlite3_bind_parameter_count(statement))
    guard values.count == expected else {
      throw SQLiteError(
        code: .error, message: "\(values.count) values for \(expected) parameters", sql: sql)
    }
    for offset in values.indices {
      try unsafe SQLiteError.check(bind(values[offset], at: Int32(offset + 1)), database, sql: sql)
    }
  }

  private func bind(_ value: SQLValue, at index: Int32) -> Int32 {
    // SQLITE_TRANSIENT, a cast macro that Swift does not import: SQLite copies before it returns.
    let transient = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    // SQLITE_STATIC: the caller keeps the array, and its bytes do not move, until `reset` clears the bindings.
    let borrowed: sqlite3_destructor_type? = nil
    switch value {
    case .null:
      return unsafe sqlite3_bind_null(statement, index)
    case .integer(let integer):
      return unsafe sqlite3_bind_int64(statement, index, integer)
    case .text(var text):
      // With an explicit count: text may hold NUL.
      return text.withUTF8 { utf8 in
        // Without bytes, there may be no address, and a nil pointer would bind NULL.
        guard utf8.count > 0, let base = utf8.baseAddress else {
          return unsafe sqlite3_bind_text(statement, index, Self.empty, 0, borrowed)
        }
        return unsafe base.withMemoryRebound(to: CChar.self, capacity: utf8.count) {
          unsafe sqlite3_bind_text64(
            statement, index, $0, UInt64(utf8.count), transient, UInt8(SQLITE_UTF8))
        }
      }
    case .bytes(let bytes):
      // A nil pointer would bind NULL: an empty array has no base address.
      guard !bytes.isEmpty else { return unsafe sqlite3_bind_zeroblob(statement, index, 0) }
      // A copy of SQLite's own would cost as much as writing the row.
      return unsafe bytes.withUnsafeBytes {
        unsafe sqlite3_bind_blob64(statement, index, $0.baseAddress, UInt64($0.count), borrowed)
      }
    }
  }
}

import CPurchaseSQLite

/// The size of a table's values, without the overhead of its pages.
enum TableBytes {
  /// Integers count 8 bytes. Uses its own read-only connection.
  static func sum(of table: String, in path: String) throws -> Int {
    var database: OpaquePointer?
    defer { unsafe _ = sqlite3_close(database) }
    let opened = unsafe sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, nil)
    guard opened == SQLITE_OK else { throw BenchError.sqlite(code: opened, doing: "open \(path)") }

    let list = "SELECT group_concat('total(' || \(size) || ')', ' + ') FROM pragma_table_info('\(table)')"
    let columns = try unsafe first(list, database) {
      unsafe sqlite3_column_text($0, 0).map { unsafe String(cString: $0) }
    }
    guard let columns else { throw BenchError.noSamples("table \(table)") }
    return try unsafe first("SELECT \(columns) FROM \(table)", database) {
      unsafe Int(sqlite3_column_double($0, 0))
    }
  }

  /// SQL that generates SQL for the size of one column's value.
  private static let size = """
    'CASE typeof(' || name || ') WHEN ''integer'' THEN 8 WHEN ''null'' THEN 0 \
    ELSE length(CAST(' || name || ' AS BLOB)) END'
    """

  private static func first<R>(
    _ sql: String, _ database: OpaquePointer?, _ read: (OpaquePointer?) -> R
  ) throws -> R {
    var statement: OpaquePointer?
    defer { unsafe _ = sqlite3_finalize(statement) }
    let prepared = unsafe sqlite3_prepare_v2(database, sql, -1, &statement, nil)
    guard prepared == SQLITE_OK else { throw BenchError.sqlite(code: prepared, doing: sql) }
    let result = unsafe sqlite3_step(statement)
    guard result == SQLITE_ROW else { throw BenchError.sqlite(code: result, doing: sql) }
    return unsafe read(statement)
  }
}

import CPurchaseSQLite

/// A failed call of SQLite: code, message and SQL.
///
/// Values are always bound and never part of the SQL text, so no error contains a payload or a token.
package struct SQLiteError: Error, Hashable, Sendable, CustomStringConvertible {
  package var code: ResultCode
  package var message: String
  package var sql: String?

  package init(code: ResultCode, message: String, sql: String? = nil) {
    self.code = code
    self.message = message
    self.sql = sql
  }

  package var description: String {
    let statement = sql.map { " (in: \($0))" } ?? ""
    return "SQLite error \(code.rawValue): \(message)\(statement)"
  }

  /// True if the message names a column of one of the tables, as the message of a broken rule does.
  package func isAbout(_ tables: [String]) -> Bool { tables.contains { message.contains(" \($0).") } }

  /// The only conversion of a result code into an error.
  static func check(
    _ result: Int32, _ handle: OpaquePointer?, sql: @autoclosure () -> String? = nil
  ) throws(SQLiteError) {
    guard result != SQLITE_OK, result != SQLITE_ROW, result != SQLITE_DONE else { return }
    throw unsafe SQLiteError(result: result, handle: handle, sql: sql())
  }

  init(result: Int32, handle: OpaquePointer?, sql: String?) {
    // "If there is no error since the last call, the message is of that call": only ask when the handle failed.
    let text = unsafe handle.map { unsafe String(cString: sqlite3_errmsg($0)) }
    unsafe self.init(
      code: ResultCode(rawValue: result),
      message: text ?? String(cString: unsafe sqlite3_errstr(result)),
      sql: sql)
  }
}

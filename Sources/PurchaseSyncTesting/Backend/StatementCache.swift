import PurchaseSQLite

/// The backend's statements, compiled once: an upload writes half a dozen rows, and compiling costs more than writing.
/// Belongs to one connection, and goes before it.
final class StatementCache {
  private var statements: [String: PreparedStatement] = [:]

  /// The statement with this text, compiled now or before. The texts are this module's own, so there are few.
  func prepare(_ connection: borrowing Connection, _ sql: String) throws(SQLiteError) -> PreparedStatement {
    if let known = statements[sql] { return known }
    let statement = PreparedStatement(connection, sql)
    statements[sql] = statement
    return statement
  }
}

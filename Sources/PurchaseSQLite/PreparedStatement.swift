/// A statement kept for the life of its connection, as a stored property.
///
/// A box, because a struct of many noncopyable fields cannot be built by an initialiser that may throw in the
/// middle. Not thread safe, as the statement itself.
package final class PreparedStatement {
  private let statement: Statement

  package init(_ connection: borrowing Connection, _ sql: String) throws(SQLiteError) {
    statement = try connection.prepare(sql)
  }

  init(database: OpaquePointer, _ sql: String) throws(SQLiteError) {
    statement = try unsafe Statement(database: database, sql: sql)
  }

  package func run(_ values: [SQLValue] = []) throws(SQLiteError) { try statement.run(values) }

  package func first<R>(_ values: [SQLValue] = [], _ read: (borrowing Row) -> R) throws(SQLiteError) -> R? {
    try statement.first(values, read)
  }

  package func all<R>(_ values: [SQLValue] = [], _ read: (borrowing Row) -> R) throws(SQLiteError) -> [R] {
    try statement.all(values, read)
  }
}

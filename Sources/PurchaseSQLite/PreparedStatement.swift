import CPurchaseSQLite

/// A statement kept for the life of its connection, as a stored property. Compiled at its first use: compiling all of
/// them takes longer than the rest of an opening, and most of them are not used in most openings.
///
/// A box, because a struct of many noncopyable fields cannot be built by an initialiser that may throw in the
/// middle. Not thread safe, as the statement itself. Not to be used when its connection is closed.
@safe package final class PreparedStatement {
  private let database: OpaquePointer
  private let sql: String
  private var statement: Statement?
  private var isCompiled = false

  package init(_ connection: borrowing Connection, _ sql: String) {
    unsafe database = connection.handle
    self.sql = sql
  }

  init(database: OpaquePointer, _ sql: String) {
    unsafe self.database = database
    self.sql = sql
  }

  package func run(_ values: [SQLValue] = []) throws(SQLiteError) {
    try compile()
    switch statement {
    case .some(let statement): try statement.run(values)
    case nil: return
    }
  }

  package func first<R>(_ values: [SQLValue] = [], _ read: (borrowing Row) -> R) throws(SQLiteError) -> R? {
    try compile()
    switch statement {
    case .some(let statement): return try statement.first(values, read)
    case nil: return nil
    }
  }

  package func all<R>(_ values: [SQLValue] = [], _ read: (borrowing Row) -> R) throws(SQLiteError) -> [R] {
    try compile()
    switch statement {
    case .some(let statement): return try statement.all(values, read)
    case nil: return []
    }
  }

  /// From here on there is a statement.
  private func compile() throws(SQLiteError) {
    guard !isCompiled else { return }
    statement = try unsafe Statement(database: database, sql: sql)
    isCompiled = true
  }
}

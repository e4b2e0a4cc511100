import CPurchaseSQLite

/// A statement that lives as long as its connection. It is compiled at its first use: compiling all statements takes
/// longer than the rest of an opening, and most openings use few of them.
///
/// A class, because an initializer that can throw in the middle cannot build a struct of many noncopyable fields. Not
/// thread safe. Do not use it after its connection is closed.
@safe package final class PreparedStatement {
  private let database: OpaquePointer
  /// Built at the first use, too.
  private let sql: () -> String
  private var statement: Statement?
  private var isCompiled = false

  package init(_ connection: borrowing Connection, _ sql: @escaping @autoclosure () -> String) {
    unsafe database = connection.handle
    self.sql = sql
  }

  init(database: OpaquePointer, _ sql: @escaping @autoclosure () -> String) {
    unsafe self.database = database
    self.sql = sql
  }

  /// Its SQL.
  package var text: String { sql() }

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

  /// Compiles the statement at its first use.
  private func compile() throws(SQLiteError) {
    guard !isCompiled else { return }
    statement = try unsafe Statement(database: database, sql: sql())
    isCompiled = true
  }
}

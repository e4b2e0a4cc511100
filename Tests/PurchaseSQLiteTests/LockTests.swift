import PurchaseSQLite
import Testing

@Suite struct LockTests {
  /// All kinds of calls, also calls that stop in the middle of a result and calls that fail.
  enum Call: CaseIterable, Sendable {
    case insert, firstOfMany, firstOfNone, all, failingInsert, failingSelect, failingValues
    case commit, rollback, execute, pragma

    func perform(on connection: borrowing Connection) throws {
      switch self {
      case .insert: try connection.prepare("INSERT INTO t VALUES(50)").run()
      case .firstOfMany: _ = try connection.prepare("SELECT x FROM t").first { $0.integer(0) }
      case .firstOfNone: _ = try connection.prepare("SELECT x FROM t WHERE x < 0").first { $0.integer(0) }
      case .all: _ = try connection.prepare("SELECT x FROM t").all { $0.integer(0) }
      case .failingInsert: try connection.prepare("INSERT INTO t VALUES(1)").run()
      case .failingSelect:
        // Fails at the second row, with the read transaction open.
        let sql = "SELECT abs(iif(x = 1, x, -9223372036854775807 - 1)) FROM t ORDER BY rowid"
        _ = try connection.prepare(sql).all { $0.integer(0) }
      case .failingValues: try connection.prepare("INSERT INTO t VALUES(?)").run()
      case .commit:
        try connection.transaction(failing: { $0 }) { () throws(SQLiteError) in
          try connection.execute("INSERT INTO t VALUES(51)")
        }
      case .rollback:
        try connection.transaction(failing: { $0 }) { () throws(SQLiteError) in
          try connection.execute("INSERT INTO t VALUES(52)")
          throw SQLiteError(code: .error, message: "planned")
        }
      case .execute: try connection.execute("UPDATE t SET x = x + 100")
      case .pragma: _ = try connection.userVersion
      }
    }

    var fails: Bool {
      switch self {
      case .failingInsert, .failingSelect, .failingValues, .rollback: true
      default: false
      }
    }
  }

  @Test(arguments: Call.allCases, ["wal", "delete"])
  func `A call that returned or threw holds no lock`(call: Call, journal: String) throws {
    try withDatabasePath { path in
      let connection = try Connection(path: path)
      #expect(try connection.text("PRAGMA journal_mode=\(journal)") == journal)
      try connection.execute("CREATE TABLE t(x INTEGER UNIQUE) STRICT; INSERT INTO t VALUES(1), (2), (3)")

      #expect((sqliteFailure { try call.perform(on: connection) } != nil) == call.fails)

      let other = try impatientConnection(path)
      try other.transaction(failing: { $0 }) { () throws(SQLiteError) in
        try other.execute("INSERT INTO t VALUES(1000)")
      }
      // In WAL mode readers do not block writers, but they block a checkpoint that truncates.
      if journal == "wal" { _ = try other.checkpoint() }
      #expect(try connection.integer("SELECT count(*) FROM t WHERE x = 1000") == 1)
    }
  }

  @Test func `A prepared statement holds no lock between its calls`() throws {
    try withDatabasePath { path in
      let connection = try Connection(path: path)
      try connection.applyNewFileSettings()
      try connection.execute("CREATE TABLE t(x INTEGER) STRICT; INSERT INTO t VALUES(1), (2)")
      let select = try connection.prepare("SELECT x FROM t ORDER BY x")
      #expect(try select.first { $0.integer(0) } == 1)
      let other = try impatientConnection(path)
      try other.execute("DELETE FROM t WHERE x = 1")
      _ = try other.checkpoint()
      #expect(try select.first { $0.integer(0) } == 2)
    }
  }

  private func orphan(_ sql: String, path: String) throws -> Statement {
    let connection = try Connection(path: path)
    try connection.execute("CREATE TABLE IF NOT EXISTS t(x INTEGER UNIQUE) STRICT; INSERT INTO t VALUES(1)")
    return try connection.prepare(sql)
  }

  @Test func `A statement that outlives its connection still works`() throws {
    try withDatabasePath { path in
      do {
        let insert = try orphan("INSERT INTO t VALUES(?)", path: path)
        try insert.run([.integer(2)])
        let error = try #require(sqliteFailure { try insert.run([.integer(2)]) })
        #expect(error.code.primary == .constraint)
        #expect(error.sql == "INSERT INTO t VALUES(?)")
      }
      let other = try impatientConnection(path)
      #expect(try other.integers("SELECT x FROM t ORDER BY x") == [1, 2])
      try other.execute("DELETE FROM t")
    }
  }
}

import PurchaseSQLite
import Testing

/// The errors of the transaction bodies in these tests.
private enum Failure: Error, Equatable {
  case sqlite(SQLiteError)
  case planned

  var sqlite: SQLiteError? {
    if case .sqlite(let error) = self { error } else { nil }
  }
}

@Suite struct TransactionTests {
  private func withTable(_ body: (String, borrowing Connection) throws -> Void) throws {
    try withDatabasePath { path in
      let connection = try Connection(path: path, busyTimeoutMilliseconds: 0)
      try connection.applyNewFileSettings()
      try connection.applyConnectionSettings()
      try connection.execute("CREATE TABLE t(x INTEGER UNIQUE, b BLOB) STRICT; INSERT INTO t(x) VALUES(1)")
      try body(path, connection)
    }
  }

  private func transact(
    _ connection: borrowing Connection, _ body: () throws(Failure) -> Void
  ) -> Failure? {
    do throws(Failure) {
      try connection.transaction(failing: Failure.sqlite, body)
      return nil
    } catch {
      return error
    }
  }

  private func insert(_ x: Int64, into connection: borrowing Connection) throws(Failure) {
    do throws(SQLiteError) {
      try connection.prepare("INSERT INTO t(x) VALUES(?)").run([.integer(x)])
    } catch {
      throw .sqlite(error)
    }
  }

  @Test func `A body that throws changes nothing`() throws {
    try withTable { path, connection in
      let failure = transact(connection) { () throws(Failure) in
        try insert(2, into: connection)
        throw .planned
      }
      #expect(failure == .planned)
      let inTransaction = connection.isInTransaction
      #expect(!inTransaction)
      let rows = try connection.integers("SELECT x FROM t")
      #expect(rows == [1])
      #expect(try impatientConnection(path).integers("SELECT x FROM t") == [1])
    }
  }

  @Test func `A statement that fails inside rolls back those before it`() throws {
    try withTable { _, connection in
      let failure = transact(connection) { () throws(Failure) in
        try insert(2, into: connection)
        try insert(1, into: connection)
      }
      let error = try #require(failure?.sqlite)
      #expect(error.code.primary == .constraint)
      let rows = try connection.integers("SELECT x FROM t")
      #expect(rows == [1])
    }
  }

  @Test func `A committed transaction is visible to another connection and returns its value`() throws {
    try withTable { path, connection in
      let value = try connection.transaction(failing: Failure.sqlite) { () throws(Failure) in
        try insert(2, into: connection)
        return "done"
      }
      #expect(value == "done")
      #expect(try impatientConnection(path).integers("SELECT x FROM t ORDER BY x") == [1, 2])
    }
  }

  @Test func `A COMMIT that fails rolls back and the connection works again`() throws {
    try withTable { path, connection in
      // A deferred foreign key is checked by COMMIT, which then leaves the transaction open.
      try connection.execute(
        "PRAGMA foreign_keys=ON; CREATE TABLE child(x INTEGER REFERENCES t(x) DEFERRABLE INITIALLY DEFERRED) STRICT"
      )
      let failure = transact(connection) { () throws(Failure) in
        try insert(2, into: connection)
        do throws(SQLiteError) {
          try connection.execute("INSERT INTO child VALUES(99)")
        } catch {
          throw .sqlite(error)
        }
      }
      let error = try #require(failure?.sqlite)
      #expect(error.code.primary == .constraint)
      #expect(error.sql == "COMMIT")
      let inTransaction = connection.isInTransaction
      #expect(!inTransaction)
      #expect(try impatientConnection(path).integers("SELECT x FROM t") == [1])
      #expect(transact(connection) { () throws(Failure) in try insert(3, into: connection) } == nil)
    }
  }

  /// A small row, then one of 64 KiB.
  private func insertTwo(into connection: borrowing Connection) -> SQLiteError? {
    do throws(SQLiteError) {
      try connection.transaction(failing: { $0 }) { () throws(SQLiteError) in
        try connection.prepare("INSERT INTO t(x) VALUES(2)").run()
        try connection.prepare("INSERT INTO t VALUES(3, ?)").run([.bytes(Array(repeating: 7, count: 65_536))])
      }
      return nil
    } catch {
      return error
    }
  }

  @Test func `A full file is a typed error, changes nothing, and the call works with more space`() throws {
    try withTable { path, connection in
      let pages = try #require(try connection.integer("PRAGMA page_count"))
      _ = try connection.integer("PRAGMA max_page_count=\(pages)")
      let error = insertTwo(into: connection)
      #expect(error?.code == .full)
      #expect(error?.sql == "INSERT INTO t VALUES(3, ?)")
      let inTransaction = connection.isInTransaction
      #expect(!inTransaction)
      #expect(try impatientConnection(path).integers("SELECT x FROM t") == [1])
      #expect(try connection.integer("PRAGMA page_count") == pages)

      _ = try connection.integer("PRAGMA max_page_count=\(pages + 1_000)")
      #expect(insertTwo(into: connection) == nil)
      #expect(try impatientConnection(path).integers("SELECT x FROM t ORDER BY x") == [1, 2, 3])
      #expect(try connection.text("PRAGMA integrity_check") == "ok")
    }
  }

  @Test func `A body never runs while another connection holds the write lock`() throws {
    try withTable { path, connection in
      let other = try impatientConnection(path)
      try connection.execute("BEGIN IMMEDIATE")
      try connection.execute("INSERT INTO t(x) VALUES(2)")
      var runs = 0
      let failure = transact(other) { () throws(Failure) in runs += 1 }
      let error = try #require(failure?.sqlite)
      #expect(error.code.primary == .busy)
      #expect(error.sql == "BEGIN IMMEDIATE")
      #expect(runs == 0)
      // A reader is not blocked and sees the earlier state.
      #expect(try other.integers("SELECT x FROM t") == [1])

      try connection.execute("COMMIT")
      #expect(transact(other) { () throws(Failure) in runs += 1 } == nil)
      #expect(runs == 1)
      #expect(try other.integers("SELECT x FROM t ORDER BY x") == [1, 2])
    }
  }

  @Test func `A transaction inside a transaction is refused and undoes the outer one`() throws {
    try withTable { _, connection in
      let failure = transact(connection) { () throws(Failure) in
        try insert(2, into: connection)
        if let inner = transact(connection, { () throws(Failure) in throw .planned }) { throw inner }
      }
      let error = try #require(failure?.sqlite)
      #expect(error.sql == "BEGIN IMMEDIATE")
      let rows = try connection.integers("SELECT x FROM t")
      #expect(rows == [1])
    }
  }
}

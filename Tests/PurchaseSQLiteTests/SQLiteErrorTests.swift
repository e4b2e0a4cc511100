import PurchaseSQLite
import Testing

@Suite struct SQLiteErrorTests {
  private static let secret = "c2VjcmV0LXByb29m"

  /// Statements that fail while they hold a bound value.
  private static let failing: [(sql: String, code: ResultCode)] = [
    ("INSERT INTO t(id, x) VALUES(1, ?)", .constraint),
    ("INSERT INTO t(id, x) VALUES(NULL, NULL) RETURNING ?", .constraint),
    ("INSERT INTO t(id, n) VALUES(3, ?)", .constraint),
    ("INSERT INTO t(id, x, checked) VALUES(4, 'a', ?)", .constraint),
    ("INSERT INTO t(id, x) VALUES(?, 'a')", .error),
    ("SELECT json(?)", .error),
  ]

  @Test(arguments: Self.failing)
  func `An error contains code, message and SQL and never the bound value`(
    sql: String, code: ResultCode
  ) throws {
    let connection = try Connection(path: ":memory:")
    try connection.execute(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, x TEXT NOT NULL, n INTEGER,
                     checked TEXT CHECK (checked IS NULL OR length(checked) < 3)) STRICT;
      INSERT INTO t(id, x) VALUES(1, 'there');
      """)
    let statement = try connection.prepare(sql)
    let error = try #require(sqliteFailure { try statement.run([.text(Self.secret)]) })
    // "datatype mismatch" (of an INTEGER PRIMARY KEY) has a primary code of its own, 20.
    #expect(error.code.primary == code || error.code.primary.rawValue == 20)
    #expect(!error.message.isEmpty)
    #expect(error.sql == sql)
    for text in ["\(error)", String(reflecting: error), error.message] {
      #expect(!text.contains(Self.secret))
    }
    #expect("\(error)".contains(sql))
    #expect("\(error)".contains(error.message))
    #expect("\(error)".contains("\(error.code.rawValue)"))
  }

  @Test func `A syntax error names the SQL`() throws {
    let connection = try Connection(path: ":memory:")
    for body in [{ (sql: String) in _ = try connection.prepare(sql) }, { try connection.execute($0) }] {
      let error = sqliteFailure { try body("SELEC 1") }
      #expect(error?.code == .error)
      #expect(error?.sql == "SELEC 1")
      #expect(error?.message.contains("SELEC") == true)
    }
  }

  @Test func `An extended code matches its primary code and not another`() {
    let uniqueViolation = ResultCode(rawValue: 2067)
    #expect(uniqueViolation.primary == .constraint)
    #expect(ResultCode.constraint ~= uniqueViolation)
    #expect(uniqueViolation ~= uniqueViolation)
    #expect(!(uniqueViolation ~= .constraint))
    #expect(!(ResultCode.busy ~= uniqueViolation))
  }

  @Test func `An error without SQL describes itself without a gap`() {
    #expect("\(SQLiteError(code: .full, message: "full"))" == "SQLite error 13: full")
  }
}

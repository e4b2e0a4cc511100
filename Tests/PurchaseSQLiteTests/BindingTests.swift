import PurchaseSQLite
import Testing

@Suite struct BindingTests {
  private static let texts = [
    "", "plain", "NUL \0 in the middle", "\0", "ends in NUL\0", "Käufe für 5 €", "e\u{301}", "👩‍👩‍👧",
    "'; DROP TABLE t; --", String(repeating: "long ", count: 100_000),
  ]

  /// By its index: the runner would print half a megabyte.
  @Test(arguments: texts.indices)
  func `Text keeps every byte`(index: Int) throws {
    let text = Self.texts[index]
    let connection = try Connection(path: ":memory:")
    try connection.execute("CREATE TABLE t(x TEXT NOT NULL) STRICT")
    try connection.prepare("INSERT INTO t VALUES(?)").run([.text(text)])
    let read = try connection.prepare("SELECT x, length(CAST(x AS BLOB)) FROM t").first { row in
      (text: row.text(0), optional: row.optionalText(0), count: row.integer(1))
    }
    // Bytes, not ==: equal strings may differ in normalisation.
    #expect(read.map { Array($0.text.utf8) } == Array(text.utf8))
    #expect(read?.optional == text)
    #expect(read?.count == Int64(text.utf8.count))
  }

  private static let blobs: [[UInt8]] = [
    [], [0], [0, 0, 0], Array(0...255), Array(repeating: 0xff, count: 1 << 20),
  ]

  @Test(arguments: blobs.indices)
  func `Bytes are unchanged and empty is not NULL`(index: Int) throws {
    let bytes = Self.blobs[index]
    let connection = try Connection(path: ":memory:")
    try connection.execute("CREATE TABLE t(x BLOB NOT NULL) STRICT")
    try connection.prepare("INSERT INTO t VALUES(?)").run([.bytes(bytes)])
    let read = try connection.prepare("SELECT x, length(x) FROM t").first { row in
      (bytes: row.bytes(0), isNull: row.isNull(0), count: row.integer(1))
    }
    #expect(read?.bytes == bytes)
    #expect(read?.isNull == false)
    #expect(read?.count == Int64(bytes.count))
  }

  @Test(arguments: [.min, .min + 1, -1, 0, 1, (1 << 53) + 1, .max - 1, .max] as [Int64])
  func `An integer keeps all 64 bits`(integer: Int64) throws {
    let connection = try Connection(path: ":memory:")
    try connection.execute("CREATE TABLE t(x INTEGER NOT NULL) STRICT")
    try connection.prepare("INSERT INTO t VALUES(?)").run([.integer(integer)])
    #expect(try connection.integer("SELECT x FROM t") == integer)
    #expect(try connection.prepare("SELECT x FROM t").first { $0.optionalInteger(0) } == integer)
  }

  @Test func `An absent value is NULL and reads as an empty value`() throws {
    let connection = try Connection(path: ":memory:")
    let row = try connection.prepare("SELECT ?, ?, ?").first([.null, .text(nil), .integer(nil)]) { row in
      (
        nulls: (0..<3).map { row.isNull($0) }, text: row.optionalText(1), integer: row.optionalInteger(2),
        plainText: row.text(1), plainInteger: row.integer(2), bytes: row.bytes(0)
      )
    }
    #expect(row?.nulls == [true, true, true])
    #expect(row?.text == nil)
    #expect(row?.integer == nil)
    #expect(row?.plainText == "")
    #expect(row?.plainInteger == 0)
    #expect(row?.bytes == [])
  }

  @Test(arguments: [true, false])
  func `A flag keeps its value`(flag: Bool) throws {
    let connection = try Connection(path: ":memory:")
    #expect(try connection.prepare("SELECT ?").first([.flag(flag)]) { $0.flag(0) } == flag)
  }

  @Test(arguments: [0, 1, 3])
  func `The wrong number of values is refused before the statement runs`(count: Int) throws {
    let connection = try Connection(path: ":memory:")
    try connection.execute("CREATE TABLE t(x INTEGER, y INTEGER) STRICT")
    let values = [SQLValue](repeating: .integer(987_654), count: count)
    let sql = "INSERT INTO t VALUES(?, ?)"
    let error = try #require(sqliteFailure { try connection.prepare(sql).run(values) })
    #expect(error.code == .error)
    #expect(error.message == "\(count) values for 2 parameters")
    #expect(error.sql == sql)
    #expect(try connection.integer("SELECT count(*) FROM t") == 0)
  }

  @Test func `A reused statement keeps no value and no error`() throws {
    let connection = try Connection(path: ":memory:")
    try connection.execute("CREATE TABLE t(x INTEGER UNIQUE) STRICT")
    let insert = try connection.prepare("INSERT INTO t VALUES(?)")
    try insert.run([.integer(1)])
    #expect(sqliteFailure { try insert.run([.integer(1)]) }?.code.primary == .constraint)
    #expect(sqliteFailure { try insert.run() } != nil)
    try insert.run([.integer(2)])
    #expect(try connection.integers("SELECT x FROM t ORDER BY x") == [1, 2])
    let changes = connection.changes
    #expect(changes == 1)
  }

  @Test func `The first row is read once and an empty result is nil`() throws {
    let connection = try Connection(path: ":memory:")
    try connection.execute("CREATE TABLE t(x INTEGER) STRICT; INSERT INTO t VALUES(1), (2), (3)")
    let select = try connection.prepare("SELECT x FROM t WHERE x > ? ORDER BY x")
    #expect(try select.first([.integer(0)]) { $0.integer(0) } == 1)
    #expect(try select.first([.integer(0)]) { $0.integer(0) } == 1)
    #expect(try select.first([.integer(3)]) { $0.integer(0) } == nil)
    #expect(try select.all([.integer(1)]) { $0.integer(0) } == [2, 3])
    #expect(try select.all([.integer(3)]) { $0.integer(0) } == [])
  }

  @Test(arguments: ["", "   ", "-- only a comment"])
  func `Text without a statement is refused`(sql: String) throws {
    let connection = try Connection(path: ":memory:")
    let error = sqliteFailure { _ = try connection.prepare(sql) }
    #expect(error?.code == .error)
    #expect(error?.sql == sql)
  }
}

@Suite struct RowHashTests {
  @Test(arguments: 0..<60) func `The hash of a row is the checksum of its fields one after the other`(
    length: Int
  ) {
    var state = UInt64(length + 1)
    func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    var hash = RowHash()
    var bytes: [UInt8] = []
    func add(_ integer: Int64) {
      for place in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: integer >> Int64(8 * place))) }
    }
    for field in 0..<length {
      switch next(5) {
      case 0:
        let number = Int64(bitPattern: state) &* Int64(field)
        hash.add(number)
        add(number)
      case 1:
        hash.add(nil as String?)
        add(-1)
      case 2:
        hash.add(field.isMultiple(of: 2))
        bytes.append(field.isMultiple(of: 2) ? 1 : 0)
      default:
        let text = String(repeating: "tæxt", count: next(9)) + "\(field)"
        hash.add(text)
        add(Int64(text.utf8.count))
        bytes += Array(text.utf8)
      }
    }
    #expect(hash.value == Checksum.of(bytes))
  }
}

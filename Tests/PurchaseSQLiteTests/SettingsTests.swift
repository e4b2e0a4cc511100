import PurchaseSQLite
import Testing

@Suite struct SettingsTests {
  private static let stored: [(pragma: String, value: String)] = [
    ("page_size", "1024"), ("auto_vacuum", "0"), ("journal_mode", "wal"),
  ]
  private static let ofConnection: [(pragma: String, value: String)] = [
    ("synchronous", "2"), ("secure_delete", "2"), ("trusted_schema", "0"),
    ("journal_size_limit", "-1"), ("busy_timeout", "5000"),
  ]

  @Test(arguments: stored + ofConnection)
  func `A setting applies to a new file`(pragma: String, value: String) throws {
    try withDatabasePath { path in
      let connection = try Connection(path: path)
      try connection.applyNewFileSettings()
      try connection.applyConnectionSettings()
      try connection.execute("CREATE TABLE t(x INTEGER) STRICT")
      #expect(try connection.text("PRAGMA \(pragma)") == value)
    }
  }

  @Test(arguments: stored)
  func `A stored setting applies to the next connection`(pragma: String, value: String) throws {
    try withDatabasePath { path in
      do {
        let connection = try Connection(path: path)
        try connection.applyNewFileSettings()
        try connection.execute("CREATE TABLE t(x INTEGER) STRICT")
      }
      #expect(try Connection(path: path, access: .readWrite).text("PRAGMA \(pragma)") == value)
    }
  }

  @Test func `A deleted value is overwritten in the file`() throws {
    try withDatabasePath { path in
      let secret = Array("a payload that must not stay on the disk".utf8)
      let connection = try Connection(path: path)
      try connection.applyNewFileSettings()
      try connection.applyConnectionSettings()
      try connection.execute("CREATE TABLE t(x BLOB) STRICT")
      func fileHoldsSecret() throws -> Bool { try Disk.system.read(path).firstRange(of: secret) != nil }
      try connection.prepare("INSERT INTO t VALUES(?)").run([.bytes(secret)])
      _ = try connection.checkpoint()
      #expect(try fileHoldsSecret())
      try connection.execute("DELETE FROM t")
      _ = try connection.checkpoint()
      #expect(try !fileHoldsSecret())
    }
  }

  @Test func `A checkpoint empties the log`() throws {
    try withDatabasePath { path in
      let connection = try Connection(path: path)
      try connection.applyNewFileSettings()
      try connection.execute("CREATE TABLE t(x INTEGER) STRICT; INSERT INTO t VALUES(1)")
      #expect(try Disk.system.size(of: path + "-wal") > 0)
      _ = try connection.checkpoint()
      #expect(try Disk.system.size(of: path + "-wal") == 0)
      #expect(try Connection(path: path, access: .readOnly).integer("SELECT x FROM t") == 1)
    }
  }

  @Test func `A checkpoint that a reader blocks returns at once and loses nothing`() throws {
    try withDatabasePath { path in
      let connection = try Connection(path: path)
      try connection.applyNewFileSettings()
      try connection.applyConnectionSettings()
      try connection.execute("CREATE TABLE t(x INTEGER) STRICT; INSERT INTO t VALUES(1)")
      let reader = try impatientConnection(path)
      try reader.execute("BEGIN; SELECT * FROM t")
      try connection.execute("INSERT INTO t VALUES(2)")
      #expect(try !connection.checkpoint())
      try reader.execute("COMMIT")
      #expect(try connection.checkpoint())
      #expect(try reader.integers("SELECT x FROM t ORDER BY x") == [1, 2])
    }
  }

  @Test func `Version and application id are stored and are 0 in a new file`() throws {
    try withDatabasePath { path in
      let connection = try Connection(path: path)
      #expect(try connection.userVersion == 0)
      #expect(try connection.applicationID == 0)
      try connection.execute("PRAGMA user_version=3; PRAGMA application_id=0x50535159")
      #expect(try connection.userVersion == 3)
      #expect(try connection.applicationID == 0x5053_5159)
    }
  }

  @Test func `A file left untouched on close keeps its log`() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/test.sqlite"
      do {
        let connection = try Connection(path: path)
        try connection.applyNewFileSettings()
        try connection.execute("CREATE TABLE t(x INTEGER) STRICT; INSERT INTO t VALUES(1)")
        connection.leaveUntouchedOnClose()
      }
      let before = try snapshot(of: directory)
      #expect(before.keys.contains("test.sqlite-wal"))
      do {
        let connection = try Connection(path: path)
        connection.leaveUntouchedOnClose()
        #expect(try connection.integer("SELECT x FROM t") == 1)
      }
      let after = try snapshot(of: directory)
      #expect(after["test.sqlite"] == before["test.sqlite"])
      #expect(after["test.sqlite-wal"] == before["test.sqlite-wal"])
    }
  }

  @Test func `The library is new enough for STRICT tables`() throws {
    let parts = Connection.libraryVersion.split(separator: ".").compactMap { Int($0) }
    try #require(parts.count >= 2)
    #expect((parts[0], parts[1]) >= (3, 37))
  }
}

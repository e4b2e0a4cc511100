import PurchaseSQLite
import Testing

@Suite struct DatabaseProbeTests {
  /// The kinds of content at a path, each with the expected result of the probe.
  enum Situation: CaseIterable, Sendable {
    case absent, emptyFile, directory, text, shortHeader, zeros, device
    case foreign, ours, oursInRollbackMode, highBits, unwritten, onlyPragmas

    var expected: DatabaseProbe {
      switch self {
      case .absent, .emptyFile: .absent
      case .directory: .directory
      case .text, .shortHeader, .zeros, .device: .notADatabase
      case .foreign: .database(applicationID: 0, userVersion: 0)
      case .ours, .oursInRollbackMode: .database(applicationID: 0x5053_5159, userVersion: 3)
      case .highBits: .database(applicationID: 0xffff_fffe, userVersion: 0x8000_0000)
      case .unwritten, .onlyPragmas: .unwritten
      }
    }

    func prepare(_ path: String) throws {
      switch self {
      case .absent, .device: break
      case .emptyFile: try write([], to: path)
      case .directory: try Disk.system.createDirectory(path)
      case .text: try write(String(repeating: "Dear customer, ", count: 100).utf8, to: path)
      case .shortHeader:
        let magic = Array("SQLite format 3\0".utf8)
        try write(magic + [UInt8](repeating: 1, count: 99 - magic.count), to: path)
      case .zeros: try write([UInt8](repeating: 0, count: 4_096), to: path)
      case .foreign: try database(path, "CREATE TABLE theirs(x)")
      case .ours: try database(path, Self.ourSchema, wal: true, checkpoint: true)
      case .oursInRollbackMode: try database(path, Self.ourSchema)
      case .highBits:
        try database(path, "PRAGMA application_id=-2; PRAGMA user_version=-2147483648; CREATE TABLE t(x)")
      case .unwritten: try database(path, Self.ourSchema, wal: true)
      case .onlyPragmas: try database(path, "SELECT 1", wal: true)
      }
    }

    static let ourSchema =
      "BEGIN; CREATE TABLE t(x INTEGER) STRICT; PRAGMA application_id=0x50535159; PRAGMA user_version=3; COMMIT"

    private func database(_ path: String, _ sql: String, wal: Bool = false, checkpoint: Bool = false) throws {
      let connection = try Connection(path: path)
      if wal { try connection.applyNewFileSettings() }
      try connection.execute(sql)
      if checkpoint { _ = try connection.checkpoint() }
      // As after a kill: the log keeps its content.
      connection.leaveUntouchedOnClose()
    }
  }

  @Test(arguments: Situation.allCases)
  func `A probe reports the content and changes no byte and no name`(situation: Situation) throws {
    try withTemporaryDirectory { directory in
      let path = situation == .device ? "/dev/null" : directory + "/test.sqlite"
      try situation.prepare(path)
      let before = try snapshot(of: directory)
      #expect(try DatabaseProbe.inspect(path: path) == situation.expected)
      #expect(try snapshot(of: directory) == before)
    }
  }

  @Test func `The schema of a new database may be in its log alone`() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/test.sqlite"
      try Situation.unwritten.prepare(path)
      #expect(try Disk.system.size(of: path + "-wal") > 0)
      #expect(try DatabaseProbe.inspect(path: path) == .unwritten)
      // The next connection finds the schema in the log.
      #expect(try Connection(path: path).userVersion == 3)
      #expect(
        try DatabaseProbe.inspect(path: path) == .database(applicationID: 0x5053_5159, userVersion: 3))
    }
  }

  @Test func `A probe does not wait for a writer's lock`() throws {
    try withDatabasePath { path in
      try Situation.oursInRollbackMode.prepare(path)
      let writer = try Connection(path: path)
      try writer.execute("BEGIN EXCLUSIVE")
      #expect(try DatabaseProbe.inspect(path: path) == Situation.ours.expected)
      try writer.execute("ROLLBACK")
    }
  }

  @Test(arguments: Array(1...99))
  func `A header cut short is not a database`(count: Int) throws {
    try withDatabasePath { path in
      try Situation.oursInRollbackMode.prepare(path)
      let header = try Disk.system.read(path, from: 0, count: count)
      try write(header, to: path)
      #expect(try DatabaseProbe.inspect(path: path) == .notADatabase)
    }
  }

  @Test func `A path below a file is an error, not an absent database`() throws {
    try withTemporaryDirectory { directory in
      try write([1], to: directory + "/file")
      let error = fileFailure { _ = try DatabaseProbe.inspect(path: directory + "/file/test.sqlite") }
      #expect(error?.operation == "stat")
    }
  }
}

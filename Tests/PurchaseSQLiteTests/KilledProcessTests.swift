import Dispatch
import PurchaseSQLite
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

#if os(Linux) || os(macOS)
  @Suite struct KilledProcessTests {
    @Test func `A process killed in the middle of a transaction leaves the commits before it`() async throws {
      try await withTemporaryDirectory { (directory: String) async throws in
        let path = directory + "/test.sqlite"
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
          let connection = try Self.openForWriting(path)
          try connection.execute("CREATE TABLE t(x INTEGER, b BLOB) STRICT")
          try connection.transaction(failing: { $0 }) { () throws(SQLiteError) in
            try connection.execute("INSERT INTO t VALUES(1, zeroblob(100000))")
          }
          // With a small cache, pages of an unfinished transaction reach the log.
          try connection.execute("PRAGMA cache_size=10")
          try connection.execute("BEGIN IMMEDIATE")
          for x in 2...50 {
            try connection.prepare("INSERT INTO t VALUES(?, zeroblob(10000))").run([.integer(Int64(x))])
          }
          kill(getpid(), SIGKILL)
        }
        // The unfinished transaction has written: 490,000 bytes more than the commits.
        #expect(try Disk.system.size(of: path + "-wal") > 300_000)
        try Self.expect([1], in: path)
      }
    }

    @Test func `A process killed right after a commit leaves that commit`() async throws {
      try await withTemporaryDirectory { (directory: String) async throws in
        let path = directory + "/test.sqlite"
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
          let connection = try Self.openForWriting(path)
          try connection.execute("CREATE TABLE t(x INTEGER, b BLOB) STRICT")
          for x in 1...20 {
            try connection.transaction(failing: { $0 }) { () throws(SQLiteError) in
              try connection.prepare("INSERT INTO t VALUES(?, zeroblob(5000))").run([.integer(Int64(x))])
            }
          }
          kill(getpid(), SIGKILL)
        }
        try Self.expect(Array(1...20), in: path)
      }
    }

    @Test func `A process killed before the first commit leaves a database without a table`() async throws {
      try await withTemporaryDirectory { (directory: String) async throws in
        let path = directory + "/test.sqlite"
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
          let connection = try Self.openForWriting(path)
          try connection.execute("BEGIN IMMEDIATE; CREATE TABLE t(x INTEGER) STRICT")
          kill(getpid(), SIGKILL)
        }
        #expect(try DatabaseProbe.inspect(path: path) == .unwritten)
        #expect(try impatientConnection(path).integer("SELECT count(*) FROM sqlite_schema") == 0)
      }
    }

    @Test func `A process killed while it replaces a file leaves the old content or the new`() async throws {
      try await withTemporaryDirectory { (directory: String) async throws in
        let path = directory + "/file"
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
          try Disk.system.replace(path, with: [UInt8](repeating: 1, count: 50_000))
          DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) { kill(getpid(), SIGKILL) }
          for round in 0... {
            try Disk.system.replace(path, with: [UInt8](repeating: UInt8(round & 1), count: 50_000))
          }
        }
        let bytes = try Disk.system.read(path)
        #expect(bytes.count == 50_000)
        #expect(Set(bytes).count == 1)
      }
    }

    private static func openForWriting(_ path: String) throws -> Connection {
      let connection = try Connection(path: path)
      try connection.applyNewFileSettings()
      try connection.applyConnectionSettings()
      // No checkpoint: recovery has to read the log.
      try connection.execute("PRAGMA wal_autocheckpoint=0")
      return connection
    }

    private static func expect(_ committed: [Int64], in path: String) throws {
      let connection = try impatientConnection(path)
      #expect(try connection.integers("SELECT x FROM t ORDER BY x") == committed)
      #expect(try connection.text("PRAGMA integrity_check") == "ok")
      // The dead process holds no lock.
      try connection.execute("INSERT INTO t VALUES(99, NULL)")
    }
  }
#endif

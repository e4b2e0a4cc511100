import Foundation
import PurchaseSQLite
import Testing

/// Numbers that a seed decides (Knuth's linear congruential generator).
private struct Draws: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ state >> 29
  }
}

/// Writes to the log are coalesced; the database behaves as without that.
@Suite struct CoalescedWALTests {
  @Test(arguments: [1, 100, 3_000, 9_000])
  func `a commit of any size reaches the log and the file`(rows: Int) throws {
    try withDatabasePath { path in
      let connection = try Connection(path: path)
      try connection.applyNewFileSettings()
      try connection.applyConnectionSettings()
      try connection.execute("PRAGMA wal_autocheckpoint=0; CREATE TABLE t(x INTEGER PRIMARY KEY, b BLOB)")
      let insert = """
        WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n WHERE i<\(rows))
        INSERT INTO t SELECT i, randomblob(900) FROM n
        """
      try connection.execute(insert)
      let other = try Connection(path: path, access: .readOnly)
      let sum = "SELECT count(*) FROM t WHERE length(b)=900"
      #expect(try other.integer(sum) == Int64(rows))
      #expect(try connection.checkpoint())
      #expect(try Disk.system.size(of: path) > rows * 900)
      #expect(try other.text("PRAGMA integrity_check") == "ok")
      let copy = path + "-copy"
      try Disk.system.replace(copy, with: try Disk.system.read(path))
      #expect(try Connection(path: copy, access: .immutable).integer(sum) == Int64(rows))
    }
  }

  @Test(arguments: 1...8)
  func `a checkpoint copies the newest page of each row, also beside a reader that stops it half-way`(
    seed: Int
  ) throws {
    try withDatabasePath { path in
      let connection = try Connection(path: path)
      try connection.applyNewFileSettings()
      try connection.applyConnectionSettings()
      try connection.execute("PRAGMA wal_autocheckpoint=0; CREATE TABLE t(x INTEGER PRIMARY KEY, b BLOB)")
      var random = Draws(state: UInt64(seed))
      var expected: [Int64: [UInt8]] = [:]
      var reader: Connection?
      for step in 0..<120 {
        let row = Int64.random(in: 0..<40, using: &random)
        let bytes = [UInt8](repeating: UInt8(step), count: Int.random(in: 0...9_000, using: &random))
        expected[row] = bytes
        try connection.prepare("INSERT OR REPLACE INTO t VALUES(?,?)").run([.integer(row), .bytes(bytes)])
        switch Int.random(in: 0..<12, using: &random) {
        case 0:
          reader = try Connection(path: path, access: .readOnly)
          try reader?.execute("BEGIN; SELECT count(*) FROM t")
        case 1: reader = nil
        case 2, 3: try connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        default: break
        }
      }
      reader = nil
      #expect(try connection.checkpoint())
      // Without the log, and so without what only the log would have.
      let copy = path + "-copy"
      try Disk.system.replace(copy, with: try Disk.system.read(path))
      let alone = try Connection(path: copy, access: .immutable)
      #expect(try alone.text("PRAGMA integrity_check") == "ok")
      let rows = try alone.prepare("SELECT x, b FROM t").all { ($0.integer(0), $0.bytes(1)) }
      #expect(Dictionary(uniqueKeysWithValues: rows) == expected)
    }
  }
}

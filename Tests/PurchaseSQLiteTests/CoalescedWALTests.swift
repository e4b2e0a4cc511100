import Foundation
import PurchaseSQLite
import Testing

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
}

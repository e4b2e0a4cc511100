import Foundation
import PurchaseSQLite
import Testing

@testable import PurchaseQueue

/// Pending log writes of one connection must never hide or overwrite the commits of another connection.
@Suite struct CoalescedWALLossTests {
  private func logSize(_ path: String) throws -> Int {
    try Data(contentsOf: URL(fileURLWithPath: path + "-wal")).count
  }

  /// Whether the whole log is in the file: a reader stops it in the middle.
  private func checkpoint(_ queue: QueueFile) throws -> Bool {
    try queue.exclusively { () throws(QueueError) in
      try queue.read { () throws(SQLiteError) in try queue.connection.checkpoint() }
    }
  }

  @Test func `a refused entry does not overwrite later commits of another process`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      let path = directory + "/queue.sqlite"
      let limits = QueueLimits(totalBytes: 1_000_000, payloadBytes: 1 << 20)
      var app: QueueFile? = try QueueFile(path: path, limits: limits, now: noon)
      _ = try app?.enqueue(entry("first"), now: noon)
      let before = try logSize(path)
      // Larger than SQLite's cache: its pages go into the log before the limit is checked.
      #expect(throws: QueueError.self) { _ = try app?.enqueue(entry("refused", bytes: 1 << 20), now: noon) }
      #expect(try logSize(path) > before + (32 << 10))

      let other = try QueueFile(path: path, limits: limits, now: noon)
      for number in 0..<60 {
        // Different sizes: equal payloads would be stored once.
        _ = try other.enqueue(entry("paid-\(number)", bytes: 8_000 + number), now: noon)
      }
      // Closing writes nothing of the refused entry.
      app = nil

      let copy = directory + "/after-power-loss.sqlite"
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
      }
      let recovered = try QueueFile(path: copy, limits: limits, now: noon)
      #expect(recovered.salvage == nil)
      #expect(try recovered.count() == 61)
      let entries = try other.allEntries()
      #expect(entries.count == 61)
      for entry in entries { #expect(try other.payload(entry.payloads[0]) != nil) }
    }
  }

  @Test func `a checkpoint that a reader stops in the middle hides nothing from other connections`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      let path = directory + "/queue.sqlite"
      let app = try QueueFile(path: path, now: noon)
      for number in 0..<30 { _ = try app.enqueue(entry("a\(number)", bytes: 8_000 + number), now: noon) }
      // A background check or a support tool reads while one more entry arrives.
      let reader = try Connection(path: path, access: .readOnly)
      try reader.execute("BEGIN; SELECT count(*) FROM entries")
      _ = try app.enqueue(entry("last", bytes: 8_100), now: noon)
      #expect(try checkpoint(app) == false)

      let other = try QueueFile(path: path, now: noon)
      #expect(try other.allEntries().count == 31)
      let check = try QueueCheck.run(path: path)
      #expect(check.isClean)
    }
  }

  @Test func `a kill after such a checkpoint loses nothing`() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/queue.sqlite"
      let app = try QueueFile(path: path, now: noon)
      for number in 0..<30 { _ = try app.enqueue(entry("a\(number)", bytes: 8_000 + number), now: noon) }
      let reader = try Connection(path: path, access: .readOnly)
      try reader.execute("BEGIN; SELECT count(*) FROM entries")
      _ = try app.enqueue(entry("last", bytes: 8_100), now: noon)
      #expect(try checkpoint(app) == false)
      try reader.execute("COMMIT")
      // The other process empties the rest of the log.
      let other = try QueueFile(path: path, now: noon)
      #expect(try checkpoint(other))
      // File and log, as a kill of the first process leaves them.
      let copy = directory + "/after-the-kill.sqlite"
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
      }
      #expect(try QueueCheck.run(path: copy).isClean)
      #expect(try QueueFile(path: copy, now: noon).allEntries().count == 31)
    }
  }
}

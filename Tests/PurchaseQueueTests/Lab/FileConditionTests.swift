import Foundation
import PurchaseQueue
import PurchaseSQLite
import Testing

/// Conditions of the file and its directory: each is a typed error, or the queue continues.
@Suite struct FileConditionTests {
  private func error(_ body: () throws -> Void) -> QueueError? {
    do {
      try body()
      return nil
    } catch {
      return error as? QueueError ?? .storage(path: "", reason: "\(error)")
    }
  }

  @Test func `openings beside closings neither fail nor lose an entry`() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/q"
      let errors = await withTaskGroup(of: [QueueError].self) { group in
        for number in 0..<4 {
          group.addTask {
            await BlockingExecutor.offThePool { () -> [QueueError] in
              var errors: [QueueError] = []
              for round in 0..<15 {
                do throws(QueueError) {
                  let queue = try QueueFile(path: path, limits: QueueLimits(entries: 100), now: noon)
                  _ = try queue.enqueue(entry("\(number)-\(round)"), now: noon)
                  // Closed here, while the others open.
                } catch {
                  errors.append(error)
                }
              }
              return errors
            }
          }
        }
        return await group.reduce(into: []) { $0 += $1 }
      }
      #expect(errors == [])
      let queue = try QueueFile(path: path, limits: QueueLimits(entries: 100), now: noon)
      #expect(try queue.count() == 60 && queue.salvage == nil)
    }
  }

  @Test(arguments: [false, true])
  func `a file that is deleted or replaced while it is open is found before the next write`(
    isReplaced: Bool
  ) async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      let open = try site.open()
      _ = try open.enqueue(entry("a"), now: noon)
      for suffix in ["", "-wal", "-shm"] { try site.damage.remove(suffix) }
      if isReplaced { try site.fill(["other"]) }
      #expect(error { _ = try open.enqueue(entry("b"), now: noon) } == .replaced(path: site.path))
      let again = try site.open()
      #expect(try names(again.allEntries()) == (isReplaced ? ["other"] : []))
    }
  }

  @Test func `a directory that is gone is a typed error, and the queue works when it is back`() async throws {
    try await withTemporaryDirectory { directory in
      let home = directory + "/home"
      try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
      let queue = try await DurableQueue.open(path: home + "/q", clock: { noon.date })
      try await queue.enqueue(entry("a"))
      try FileManager.default.moveItem(atPath: home, toPath: directory + "/away")
      await #expect(throws: QueueError.self) { try await queue.enqueue(entry("b")) }
      try FileManager.default.moveItem(atPath: directory + "/away", toPath: home)
      try await queue.enqueue(entry("c"))
      #expect(
        try await queue.read { try $0.entries(in: .account("alice")) }.map(\.key.rawValue) == ["a", "c"])
      try await queue.close()
    }
  }

  /// An extension of a later version has made a table and noted it; this version keeps it and works.
  @Test func `an older app beside a newer extension keeps the tables that it does not know`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      let app = try site.open()
      _ = try app.enqueue(entry("a"), now: noon)
      do {
        let newer = try site.open()
        try newer.transaction { () throws(QueueError) in
          try QueueError.wrap(site.path) { () throws(SQLiteError) in
            try newer.connection.execute("CREATE TABLE gifts(name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID")
            try newer.connection.execute("INSERT INTO gifts VALUES('a gift')")
          }
          try newer.noteSchema()
        }
      }
      _ = try app.enqueue(entry("b"), now: noon)
      let later = try site.open()
      #expect(later.salvage == nil)
      #expect(try names(later.allEntries()) == ["a", "b"])
      #expect(try later.connection.prepare("SELECT name FROM gifts").first { $0.text(0) } == "a gift")
    }
  }

  /// Another version migrates the file while this one has it open.
  @Test func `a file that a newer version has migrated is refused and left unchanged`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try site.fill(["a"])
      // As every version does: a text of the schema and the version in the header change together.
      try Connection(path: site.path).execute(
        "DROP VIEW queue; CREATE VIEW queue AS SELECT /* version 3 */ key FROM entries; PRAGMA user_version=3"
      )
      let before = try files(in: directory)["q"]
      #expect(error { _ = try site.open() } == .newerSchema(path: site.path, found: 3, supported: 1))
      #expect(try files(in: directory)["q"] == before)
      #expect(try site.leftovers() == [])
    }
  }
}

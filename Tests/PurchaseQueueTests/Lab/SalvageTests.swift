import Foundation
import PurchaseQueue
import PurchaseSQLite
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The replacement of a damaged file by a salvaged one, and the content of the salvaged file.
@Suite struct SalvageTests {
  /// The steps of a replacement in order; the last one before the kill.
  enum Step: Int, CaseIterable {
    case built, whole, log, index, file, unmarked
  }

  @Test(arguments: Step.allCases)
  func `a replacement continues after a kill between two steps`(last: Step) async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      let path = site.path
      func move(_ from: String, _ to: String) throws {
        try FileManager.default.moveItem(atPath: path + from, toPath: path + to)
      }
      // The salvaged file of a queue with entry "a", next to a damaged file with log and index.
      try site.fill(["a"])
      try move("", "-salvage")
      try Data("damaged".utf8).write(to: URL(fileURLWithPath: path))
      try Data("its log".utf8).write(to: URL(fileURLWithPath: path + "-wal"))
      try Data("its index".utf8).write(to: URL(fileURLWithPath: path + "-shm"))
      try Data().write(to: URL(fileURLWithPath: path + "-damage"))
      let steps = [
        ("-salvage", "-salvaged"), ("-wal", ".damaged-7-wal"), ("-shm", ".damaged-7-shm"), ("", ".damaged-7"),
      ]
      for (from, to) in steps.prefix(last.rawValue) { try move(from, to) }
      if last == .unmarked { try site.damage.remove("-damage") }
      if last == .built {
        // It may be incomplete, so it is built again, which needs the damaged file.
        let error = #expect(throws: QueueError.self) { try site.open() }
        guard case .foreignFile = error else { Issue.record("\(String(describing: error))"); return }
        #expect(try files(in: directory)["q"] == Data("damaged".utf8))
        return
      }
      let queue = try site.open()
      #expect(try names(queue.allEntries()) == ["a"])
      let aside = try #require(queue.health().archived.first)
      for (suffix, text) in [("", "damaged"), ("-wal", "its log"), ("-shm", "its index")] {
        #expect(try Data(contentsOf: URL(fileURLWithPath: aside + suffix)) == Data(text.utf8))
      }
      #expect(try site.leftovers().count == 3)
    }
  }

  @Test func `what a kill leaves of an older damaged file does not take the place of the newest one`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try site.fill(["a"])
      for time in [1, 2, 3] {
        // A kill while the third one from the end was being removed.
        if time == 3 { try Data().write(to: URL(fileURLWithPath: site.path + ".damaged-0-shm")) }
        try Data().write(to: URL(fileURLWithPath: site.path + "-damage"))
        _ = try site.open(at: Timestamp(milliseconds: Int64(time)))
      }
      #expect(try site.open().health().archived == ["2", "3"].map { site.path + ".damaged-\($0)" })
    }
  }

  @Test func `a file with the largest number in its name does not end the process`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try site.fill(["a"])
      let strange = site.path + ".damaged-\(Int64.max)"
      for path in [strange, site.path + "-damage"] { try Data().write(to: URL(fileURLWithPath: path)) }
      let queue = try site.open()
      #expect(try names(queue.allEntries()) == ["a"])
      #expect(try queue.health().archived == [site.path + ".damaged-\(noon.milliseconds)"])
      #expect(FileManager.default.fileExists(atPath: strange))
    }
  }

  @Test func `a salvage never gives a place twice`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try site.fill(["a", "b"])
      do {
        let queue = try site.open()
        try queue.acknowledge([Settlement(key: key("b"))], now: noon)
      }
      for _ in 0..<2 {
        try Data().write(to: URL(fileURLWithPath: site.path + "-damage"))
        _ = try site.open()
      }
      guard case .inserted(let later) = try site.open().enqueue(entry("c"), now: noon) else {
        Issue.record("not inserted")
        return
      }
      #expect(later.place == 3)
    }
  }

  @Test func `tables of other modules survive with their indexes and references`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      do {
        let queue = try site.open()
        try queue.setFact("family.version", "3")
        try queue.transaction { () throws(QueueError) in
          try QueueError.wrap(site.path) { () throws(SQLiteError) in
            try queue.connection.execute(
              """
              CREATE TABLE children(name TEXT PRIMARY KEY, parent TEXT REFERENCES parents(name), note TEXT) STRICT;
              CREATE TABLE parents(name TEXT PRIMARY KEY, note BLOB NOT NULL) STRICT, WITHOUT ROWID;
              CREATE UNIQUE INDEX one_child ON children(parent);
              CREATE VIEW family AS SELECT * FROM children;
              """)
            let parent = try queue.connection.prepare("INSERT INTO parents VALUES(?, randomblob(600))")
            let child = try queue.connection.prepare("INSERT INTO children VALUES(?,?,hex(zeroblob(100)))")
            for name in numbered("n", 40).reversed() {
              try parent.run([.text(name)])
              try child.run([.text("child-" + name), .text(name)])
            }
          }
        }
      }
      try site.fill(["a"])
      // An opening does not read this page, so the mark asks for the salvage.
      let leaf = try #require(site.damage.offsets(of: Array("child-n020n020".utf8)).first) / 1024 * 1024
      try #require(try site.damage.bytes[leaf] == 13)
      try site.damage.write(Array(repeating: 0xEE, count: 16), at: leaf)
      try Data().write(to: URL(fileURLWithPath: site.path + "-damage"))
      let queue = try site.open()
      #expect(queue.salvage?.entries == 1)
      func number(_ sql: String) throws -> Int64? {
        try queue.connection.prepare(sql).first { $0.integer(0) }
      }
      #expect(try number("SELECT count(*) FROM parents") == 40)
      #expect(try number("SELECT count(*) FROM family") ?? 0 >= 5)
      #expect(try number("SELECT count(*) FROM children WHERE name IN ('child-n039','child-n000')") == 2)
      #expect(try queue.fact("family.version") == "3")
      #expect(try number("SELECT count(*) FROM sqlite_schema WHERE name IN ('one_child','family')") == 2)
      #expect(throws: SQLiteError.self) {
        try queue.connection.execute("INSERT INTO children VALUES('twin', 'n000', '')")
      }
    }
  }

  @Test(arguments: ["foreign", "newer"])
  func `a foreign file is never archived, even with a damage mark`(kind: String) async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      if kind == "newer" {
        try site.fill(["a"])
        try Connection(path: site.path).execute("PRAGMA user_version=99")
      } else {
        try Connection(path: site.path).execute("CREATE TABLE theirs(x); INSERT INTO theirs VALUES(1)")
      }
      try Data().write(to: URL(fileURLWithPath: site.path + "-damage"))
      let before = try files(in: directory)
      #expect(throws: QueueError.self) { try site.open() }
      #expect(try files(in: directory) == before)
    }
  }

  @Test func `a foreign log without a file is refused and not deleted`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try Data("a log of some other page size".utf8).write(to: URL(fileURLWithPath: site.path + "-wal"))
      let before = try files(in: directory)
      #expect(throws: QueueError.self) { try site.open() }
      #expect(try files(in: directory) == before)
    }
  }

  #if os(Linux) || os(macOS)
    @Test func `a write fails after another process has salvaged the open file`() async throws {
      try await withTemporaryDirectory { directory in
        let site = Site(directory: directory)
        let path = site.path
        try site.fill(["a"])
        let file = try site.open()
        let queue = try await DurableQueue.open(path: path, clock: { noon.date })
        #expect(try await queue.read { try $0.count() } == 1)
        await #expect(processExitsWith: .success) { [path = path as String] in
          try Data().write(to: URL(fileURLWithPath: path + "-damage"))
          let queue = try QueueFile(path: path, now: noon)
          #expect(queue.salvage?.entries == 1)
          _ = try queue.enqueue(entry("b"), now: noon)
        }
        let error = #expect(throws: QueueError.self) { try file.enqueue(entry("c"), now: noon) }
        guard case .replaced = error else { Issue.record("\(String(describing: error))"); return }
        try await queue.enqueue(entry("c"))
        #expect(
          try await queue.read { try $0.entries(in: .account("alice")) }.map(\.key.rawValue) == [
            "a", "b", "c",
          ])
        try await queue.close()
        _ = consume file
        #expect(try names(site.open().allEntries()) == ["a", "b", "c"])
        #expect(try site.leftovers().filter { $0.hasSuffix("-damage") } == [])
      }
    }
  #endif

  @Test func `a write fails while a replacement waits that another process began and did not end`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try site.fill(["a"])
      // What a salvage in another process has built before it is killed.
      let built = site.path + "-built"
      try FileManager.default.copyItem(atPath: site.path, toPath: built)
      let file = try site.open()
      try FileManager.default.moveItem(atPath: built, toPath: site.path + "-salvaged")
      #expect(throws: QueueError.replaced(path: site.path)) { try file.enqueue(entry("b"), now: noon) }
      let next = try site.open()
      _ = try next.enqueue(entry("b"), now: noon)
      #expect(throws: QueueError.replaced(path: site.path)) { try file.enqueue(entry("c"), now: noon) }
      #expect(try names(next.allEntries()) == ["a", "b"])
    }
  }

  #if os(Linux) || os(macOS)
    @Test(arguments: [1_000, 10_000, 25_000, 30_000])
    func `a kill in the middle of a salvage loses nothing more`(bytes: Int) async throws {
      try await withTemporaryDirectory { directory in
        let site = Site(directory: directory)
        let keys = numbered("k", 60)
        try site.fill(keys)
        try site.damage.write(Array(repeating: 0xAA, count: 100), at: 0)
        let damaged = try site.damage.bytes
        await #expect(processExitsWith: .signal(SIGXFSZ)) {
          [path = site.path as String, bytes = bytes as Int] in
          try dieOfFileSize(bytes)
          _ = try QueueFile(path: path, now: noon)
        }
        #expect(try site.damage.bytes == damaged)
        #expect(try names(site.open().allEntries()) == keys)
        #expect(try site.leftovers() == ["q.damaged-\(noon.milliseconds)"])
      }
    }
  #endif

  @Test func `a queue that cannot be opened again now works later`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try site.fill(["a"])
      let queue = try await DurableQueue.open(path: site.path, clock: { noon.date })
      try FileManager.default.moveItem(atPath: site.path, toPath: site.path + "-elsewhere")
      try FileManager.default.createDirectory(atPath: site.path, withIntermediateDirectories: false)
      for _ in 1...2 {
        let error = await #expect(throws: QueueError.self) { try await queue.enqueue(entry("b")) }
        guard case .foreignFile = error else { Issue.record("\(String(describing: error))"); return }
      }
      try FileManager.default.removeItem(atPath: site.path)
      try FileManager.default.moveItem(atPath: site.path + "-elsewhere", toPath: site.path)
      try await queue.enqueue(entry("c"))
      #expect(
        try await queue.read { try $0.entries(in: .account("alice")) }.map(\.key.rawValue) == ["a", "c"])
      try await queue.close()
      await #expect(throws: QueueError.closed(path: site.path)) { try await queue.enqueue(entry("d")) }
    }
  }
}

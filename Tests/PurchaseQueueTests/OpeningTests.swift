import Foundation
import PurchaseQueue
import PurchaseSQLite
import Testing

@Suite struct OpeningTests {
  /// Something that is no queue, created at a path.
  enum Obstacle: CaseIterable {
    case directory, text, foreign, foreignInLog, newer

    func make(at path: String) throws {
      switch self {
      case .directory:
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      case .text: try Data("my shopping list".utf8).write(to: URL(fileURLWithPath: path))
      case .foreign:
        try Connection(path: path).execute("CREATE TABLE theirs(x); INSERT INTO theirs VALUES(1)")
      case .foreignInLog:
        let connection = try Connection(path: path)
        try connection.enterWAL()
        try connection.execute("CREATE TABLE theirs(x)")
        connection.leaveUntouchedOnClose()
      case .newer:
        _ = try QueueFile(path: path, now: noon)
        try Connection(path: path).execute("PRAGMA user_version=99")
      }
    }
  }

  @Test func `a file whose first page was torn during its creation is created again`() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/queue.sqlite"
      func write(_ bytes: [UInt8], _ suffix: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path + suffix))
      }
      // SQLite's journal of the first page: the magic number, no page in the journal, and none in the file before.
      var journal = [UInt8](repeating: 0, count: 512)
      journal.replaceSubrange(0..<8, with: [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7])
      (journal[22], journal[26]) = (2, 4)
      try write([UInt8](repeating: 0, count: 512) + [UInt8](repeating: 7, count: 512), "")
      try write(journal, "-journal")
      // Without our lock file next to it, the file is foreign.
      let error = #expect(throws: QueueError.self) { try QueueFile(path: path, now: noon) }
      guard case .foreignFile = error else { Issue.record("\(String(describing: error))"); return }
      try write([], "-lock")
      let queue = try QueueFile(path: path, now: noon)
      _ = try queue.enqueue(entry("a"), now: noon)
      #expect(try queue.count() == 1)
    }
  }

  @Test(arguments: Obstacle.allCases)
  func `a foreign file is refused, and none of its bytes changes`(obstacle: Obstacle) async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/queue.sqlite"
      try obstacle.make(at: path)
      let before = try files(in: directory)
      let error = #expect(throws: QueueError.self) { try QueueFile(path: path, now: noon) }
      #expect(error.map { "\($0)".contains(path) } == true)
      #expect(try files(in: directory) == before)
    }
  }

  @Test func `a path that cannot be written is a typed error`() async throws {
    try await withTemporaryDirectory { directory in
      try Data().write(to: URL(fileURLWithPath: directory + "/file"))
      for path in [directory + "/file/queue", directory + "/absent/queue"] {
        #expect(throws: QueueError.self) { try QueueFile(path: path, now: noon) }
      }
      #expect(try files(in: directory).keys.sorted() == ["file"])
    }
  }

  @Test func `only the owner may read the file`() async throws {
    try await withTemporaryDirectory { directory in
      _ = try QueueFile(path: directory + "/q", now: noon)
      let attributes = try FileManager.default.attributesOfItem(atPath: directory + "/q")
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
  }

  #if os(Linux) || os(macOS)
    /// If an opening closed a descriptor of the file, this process would lose its locks on it. The next process that
    /// closes the queue would then remove the log of a queue in use.
    @Test func `a second opening in a process keeps the locks of the first`() async throws {
      try await withTemporaryDirectory { (directory: String) async throws in
        let path = directory + "/q"
        let queue = try QueueFile(path: path, now: noon)
        _ = try queue.enqueue(entry("a"), now: noon)
        _ = try QueueFile(path: path, now: noon)
        await #expect(processExitsWith: .success) { [path = path as String] in
          _ = try QueueFile(path: path, now: noon).count()
        }
        _ = try queue.enqueue(entry("b"), now: noon)
        await #expect(processExitsWith: .success) { [path = path as String] in
          guard try QueueFile(path: path, now: noon).count() == 2 else { exit(3) }
        }
      }
    }
  #endif
}

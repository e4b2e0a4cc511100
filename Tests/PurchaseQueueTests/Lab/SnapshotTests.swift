import Foundation
import PurchaseQueue
import PurchaseSQLite
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Names, bytes and modification times of a directory and everything in it.
private func everything(in directory: String) throws -> [String: [Data]] {
  var found: [String: [Data]] = [:]
  for (name, bytes) in try files(in: directory).merging([".": Data()], uniquingKeysWith: { $1 }) {
    let attributes = try FileManager.default.attributesOfItem(atPath: directory + "/" + name)
    let changed = attributes[.modificationDate] as? Date
    found[name] = [bytes, Data("\(changed?.timeIntervalSince1970 ?? 0)".utf8)]
  }
  return found
}

/// A snapshot in a directory of its own, so that its leftovers are visible.
private func snapshot(of path: String, below directory: String) throws -> QueueSnapshot {
  try QueueSnapshot(of: path, temporaryDirectory: directory, now: noon.date)
}

private func keys(_ snapshot: QueueSnapshot) throws -> [String] {
  try snapshot.inCopy { (queue) throws(QueueError) in try queue.allEntries() }.map(\.key.rawValue)
}

@Suite struct SnapshotTests {
  /// The states in which a queue's file can be when a snapshot is taken.
  enum State: CaseIterable {
    case closed, open, openWithLog, killed, withoutLockFile
  }

  private func prepare(_ state: State, at path: String) async throws -> QueueFile? {
    switch state {
    case .closed, .open, .openWithLog, .withoutLockFile:
      let queue = try QueueFile(path: path, now: noon)
      for key in ["a", "b"] { _ = try queue.enqueue(entry(key), now: noon) }
      if state == .open { _ = try queue.connection.checkpoint() }
      if state == .withoutLockFile { try FileManager.default.removeItem(atPath: path + "-lock") }
      return state == .open || state == .openWithLog ? queue : nil
    case .killed:
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        let queue = try QueueFile(path: path, now: noon)
        for key in ["a", "b"] { _ = try queue.enqueue(entry(key), now: noon) }
        kill(getpid(), SIGKILL)
      }
      return nil
    }
  }

  @Test(arguments: State.allCases)
  func `a snapshot holds every commit and changes nothing`(state: State) async throws {
    try await withTemporaryDirectory { (directory: String) async throws in
      let (home, scratch) = (directory + "/home", directory + "/scratch")
      for path in [home, scratch] { try Disk.system.createDirectory(path) }
      let queue = try await prepare(state, at: home + "/q")
      let before = try everything(in: home)
      do {
        let snapshot = try snapshot(of: home + "/q", below: scratch)
        #expect(try keys(snapshot) == ["a", "b"])
        #expect(snapshot.isSound && snapshot.schemaVersion == 1 && snapshot.archived.isEmpty)
        let health = try snapshot.health()
        #expect(health.queued == 2 && health.bytes == 200)
        #expect(health.fileBytes == before["q"]?[0].count)
        #expect(health.logBytes == before["q-wal"]?[0].count ?? 0)
        let copy = try #require(try FileManager.default.contentsOfDirectory(atPath: scratch).first)
        let attributes = try FileManager.default.attributesOfItem(atPath: scratch + "/" + copy)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
        // A change of the copy does not change the queue.
        try snapshot.inCopy { (copy) throws(QueueError) in
          _ = try copy.discard(EntryKey(rawValue: "a"), by: "test", reason: "test", now: noon)
        }
      }
      #expect(try everything(in: home) == before)
      #expect(try FileManager.default.contentsOfDirectory(atPath: scratch).isEmpty)
      #expect(try queue?.count() ?? 2 == 2)
    }
  }

  @Test func `the locks of the process that takes a snapshot stay`() async throws {
    try await withTemporaryDirectory { (directory: String) async throws in
      let path = directory + "/q"
      let queue = try QueueFile(path: path, now: noon)
      _ = try queue.enqueue(entry("a"), now: noon)
      #expect(try keys(QueueSnapshot(of: path)) == ["a"])
      // Another process opens and closes the queue. Without the locks, it would remove the log.
      await #expect(processExitsWith: .success) { [path = path as String] in
        _ = try QueueFile(path: path, now: noon).count()
      }
      _ = try queue.enqueue(entry("b"), now: noon)
      #expect(try keys(QueueSnapshot(of: path)) == ["a", "b"])
      await #expect(processExitsWith: .success) { [path = path as String] in
        guard try QueueFile(path: path, now: noon).count() == 2 else { exit(3) }
      }
    }
  }

  @Test func `a snapshot beside a process that writes, opens and closes is complete`() async throws {
    try await withTemporaryDirectory { (directory: String) async throws in
      let path = directory + "/q"
      _ = try QueueFile(path: path, now: noon)
      let hasEnded = Locked(false)
      let writer = Task.detached {
        defer { hasEnded.withLock { $0 = true } }
        var round = 0
        while !Task.isCancelled {
          let queue = try QueueFile(path: path, now: noon)
          for index in 0..<5 {
            _ = try queue.enqueue(entry("\(round)-\(index)", bytes: 5_000), now: noon)
            if round > 0 {
              try queue.acknowledge([Settlement(key: EntryKey(rawValue: "\(round - 1)-\(index)"))], now: noon)
            }
          }
          round += 1
          await Task.yield()
        }
      }
      defer { writer.cancel() }
      var states: Set<[Int64]> = []
      // However slow the writer is, it writes until it was met in several states.
      for count in 0..<10_000 where count < 40 || states.count < 5 {
        if hasEnded.value { break }
        let snapshot = try QueueSnapshot(of: path)
        #expect(snapshot.isSound)
        let places = try snapshot.inCopy { (queue) throws(QueueError) in try queue.allEntries() }.map(\.place)
        if let first = places.first { #expect(places == Array(first..<first + Int64(places.count))) }
        #expect(places.count <= 6)
        states.insert(places)
        await Task.yield()
      }
      writer.cancel()
      try await writer.value
      #expect(states.count >= 5)
    }
  }

  @Test(arguments: OpeningTests.Obstacle.allCases)
  func `a file that is no queue is refused, and nothing changes`(obstacle: OpeningTests.Obstacle) async throws
  {
    try await withTemporaryDirectory { (directory: String) async throws in
      let (home, scratch) = (directory + "/home", directory + "/scratch")
      for path in [home, scratch] { try Disk.system.createDirectory(path) }
      try obstacle.make(at: home + "/q")
      let before = try everything(in: home)
      let error = #expect(throws: QueueError.self) { try snapshot(of: home + "/q", below: scratch) }
      switch error {
      case .newerSchema(home + "/q", 99, _): #expect(obstacle == .newer)
      case .foreignFile(home + "/q", _): #expect(obstacle != .newer)
      default: Issue.record("\(String(describing: error))")
      }
      #expect(try everything(in: home) == before)
      #expect(try FileManager.default.contentsOfDirectory(atPath: scratch).isEmpty)
    }
  }

  @Test func `a missing file, an empty one and a missing directory are told apart`() async throws {
    try await withTemporaryDirectory { (directory: String) async throws in
      let path = directory + "/q"
      #expect {
        try QueueSnapshot(of: path)
      } throws: { error in
        if case .cannotOpen(path, _) = error as? QueueError { true } else { false }
      }
      try Data().write(to: URL(fileURLWithPath: path))
      #expect(throws: QueueError.foreignFile(path: path, found: "an empty file")) {
        try QueueSnapshot(of: path)
      }
      #expect {
        try snapshot(of: path, below: directory + "/absent")
      } throws: { error in
        if case .cannotOpen(let place, _) = error as? QueueError { place.hasSuffix("absent") } else { false }
      }
      #expect(try files(in: directory) == ["q": Data()])
    }
  }
}

@Suite struct DamagedSnapshotTests {
  /// Kinds of damage, made with another connection or byte by byte.
  enum Damage: CaseIterable {
    case row, payload, tombstone, page, header, mark

    func make(at path: String) throws {
      switch self {
      case .row: try Connection(path: path).execute("UPDATE entries SET attempts=77 WHERE key='a'")
      case .payload: try Connection(path: path).execute("UPDATE payloads SET bytes=zeroblob(100)")
      case .tombstone: try Connection(path: path).execute("UPDATE tombstones SET outcome='lost'")
      case .page:
        let root = try Connection(path: path).prepare(
          "SELECT rootpage FROM sqlite_schema WHERE name='payloads'"
        ).first { Int($0.integer(0)) }
        try overwrite(path, at: ((root ?? 0) - 1) * 1024, count: 1024)
      case .header: try overwrite(path, at: 0, count: 64)
      case .mark: try Data().write(to: URL(fileURLWithPath: path + "-damage"))
      }
    }

    private func overwrite(_ path: String, at offset: Int, count: Int) throws {
      var bytes = try Disk.system.read(path)
      bytes.replaceSubrange(offset..<offset + count, with: [UInt8](repeating: 0xA5, count: count))
      try Data(bytes).write(to: URL(fileURLWithPath: path))
    }
  }

  @Test(arguments: Damage.allCases)
  func `damage is found, reported and left unchanged`(damage: Damage) async throws {
    try await withTemporaryDirectory { (directory: String) async throws in
      let path = directory + "/q"
      do {
        let queue = try QueueFile(path: path, now: noon)
        for key in ["a", "b", "c"] { _ = try queue.enqueue(entry(key), now: noon) }
        try queue.acknowledge([Settlement(key: EntryKey(rawValue: "c"))], now: noon)
      }
      try damage.make(at: path)
      let before = try everything(in: directory)
      let snapshot = try QueueSnapshot(of: path)
      #expect(!snapshot.isSound)
      #expect(try keys(snapshot) == ["a", "b"])
      switch damage {
      case .row: #expect(snapshot.check.entries == [1])
      case .payload: #expect(snapshot.check.payloads.count == 2)
      case .tombstone: #expect(snapshot.check.tombstones.map(\.rawValue) == ["c"])
      case .page: #expect(!snapshot.check.pages.isEmpty && snapshot.salvage?.entries == 2)
      case .header, .mark: #expect(snapshot.salvage?.entries == 2 && snapshot.salvage?.tombstones == 1)
      }
      #expect(try snapshot.health().archived.isEmpty)
      #expect(try everything(in: directory) == before)
    }
  }

  @Test(arguments: ["moved away", "unreadable", "behind a damaged header"])
  func `a snapshot holds all of a queue whose file has no header`(file: String) async throws {
    try await withTemporaryDirectory { (directory: String) async throws in
      let path = directory + "/q"
      do {
        let queue = try QueueFile(path: path, limits: QueueLimits(totalBytes: 16 << 20), now: noon)
        // More than is copied of a foreign file. Different sizes: equal payloads would be stored once.
        for index in 0..<43 {
          _ = try queue.enqueue(entry("\(index)", bytes: 100_000 + index), now: noon)
        }
      }
      if file == "behind a damaged header" {
        try Damage.header.make(at: path)
      } else {
        try FileManager.default.moveItem(atPath: path, toPath: path + "-salvaged")
      }
      if file == "unreadable" { try Data("damaged".utf8).write(to: URL(fileURLWithPath: path)) }
      let before = try everything(in: directory)
      let snapshot = try QueueSnapshot(of: path)
      let entries = try snapshot.inCopy { (queue) throws(QueueError) in try queue.allEntries() }
      #expect(entries.map(\.key.rawValue) == (0..<43).map { "\($0)" })
      #expect(entries.allSatisfy { !$0.payloads[0].isByReference })
      #expect(try everything(in: directory) == before)
    }
  }

  @Test func `archived files beside the original are listed`() async throws {
    try await withTemporaryDirectory { (directory: String) async throws in
      let path = directory + "/q"
      _ = try QueueFile(path: path, now: noon).enqueue(entry("a"), now: noon)
      try Damage.mark.make(at: path)
      _ = try QueueFile(path: path, now: noon)
      let snapshot = try QueueSnapshot(of: path)
      #expect(snapshot.isSound)
      #expect(try snapshot.health().archived == [path + ".damaged-\(noon.milliseconds)"])
    }
  }

  @Test func `entries are found by key, by its last part and by order, settled ones too`() async throws {
    try await withTemporaryDirectory { (directory: String) async throws in
      let queue = try QueueFile(path: directory + "/q", now: noon)
      for key in ["Sandbox/12", "Production/12", "Production/312", "12/x"] {
        _ = try queue.enqueue(entry(key, order: "7"), now: noon)
      }
      try queue.acknowledge([Settlement(key: EntryKey(rawValue: "Production/12"))], now: noon)
      #expect(try queue.keys(named: "12").map(\.rawValue) == ["Production/12", "Sandbox/12"])
      #expect(try queue.keys(named: "Sandbox/12").map(\.rawValue) == ["Sandbox/12"])
      #expect(try queue.keys(named: "2").isEmpty)
      #expect(try queue.newestTombstones(10).map(\.key.rawValue) == ["Production/12"])
      #expect(try queue.newestTombstones(0).isEmpty)
    }
  }
}

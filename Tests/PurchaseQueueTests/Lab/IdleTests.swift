import Foundation
import PurchaseQueue
import PurchaseSQLite
import TestSupport
import Testing

#if os(Linux)
  /// The locks of this process on the files of a queue, seen from outside.
  @Suite struct IdleTests {
    @Test func `a queue that is open and idle has no lock`() async throws {
      try await withTemporaryDirectory { directory in
        let path = directory + "/q"
        let queue = try await DurableQueue.open(path: path, pause: .zero, clock: { noon.date })
        for index in 0..<3 {
          try await queue.enqueue(entry("k\(index)"))
          try await until { try FileLocks.lines(of: path).isEmpty }
          #expect(try await queue.read { try $0.count() } == index + 1)
        }
        try await queue.close()
      }
    }

    @Test func `a queue that is open and in use has locks of SQLite`() async throws {
      try await withTemporaryDirectory { directory in
        // Otherwise the test before shows nothing.
        let queue = try QueueFile(path: directory + "/q", now: noon)
        try await until {
          var seen: Result<[String], any Error> = .success([])
          // In a transaction, because a queue that is only open may have given its locks back.
          try queue.transaction { () throws(QueueError) in
            seen = Result { try FileLocks.lines(of: directory + "/q") }
          }
          return try !seen.get().isEmpty
        }
        #expect(try queue.count() == 0)
      }
    }

    @Test(arguments: 0..<20)
    func `a closed queue has no lock, also while it is checked`(round: Int) async throws {
      try await withTemporaryDirectory { directory in
        let path = directory + "/q"
        let limits = QueueLimits(entries: 1_000, totalBytes: 10 << 20)
        do {
          let queue = try QueueFile(path: path, limits: limits, now: noon)
          let errors = queue.groupCommit(
            (0..<500).map { index in
              let new = entry("k\(index)", bytes: 8_000 + index)
              return operation { (file) throws(QueueError) in _ = try file.enqueue(new, now: noon) }
            })
          #expect(errors.allSatisfy { $0 == nil })
        }
        let queue = try await DurableQueue.open(path: path, limits: limits, clock: { noon.date })
        for _ in 0..<round { await Task.yield() }
        try await queue.close()
        #expect(try FileLocks.lines(of: path) == [])
      }
    }
  }
#endif

/// The background check, which reads every value.
@Suite struct EndedCheckTests {
  @Test func `a check that was ended reports nothing`() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/q"
      let queue = try QueueFile(path: path, now: noon)
      _ = try queue.enqueue(entry("a"), now: noon)
      let stop = Interrupter()
      stop.stop()
      #expect(throws: QueueError.closed(path: path)) {
        try QueueCheck.run(path: path, on: .system, until: stop)
      }
      #expect(try QueueCheck.run(path: path).isClean)
    }
  }

  @Test func `closing copies no long log into the file`() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/q"
      let limits = QueueLimits(entries: 1_000, totalBytes: 10 << 20)
      let queue = try await DurableQueue.open(
        path: path, limits: limits, pause: .seconds(1_000), clock: { noon.date })
      for index in 0..<100 { try await queue.enqueue(entry("k\(index)", bytes: 8_000 + index)) }
      try await queue.close()
      let log = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
      #expect(log.count > 512 << 10)
      #expect(try QueueFile(path: path, limits: limits, now: noon).allEntries().count == 100)
    }
  }
}

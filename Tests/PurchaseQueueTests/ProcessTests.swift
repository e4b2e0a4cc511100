import Foundation
import PurchaseQueue
import PurchaseSQLite
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Several processes, or several queues of one process, on one file.
@Suite struct ProcessTests {
  #if os(Linux) || os(macOS)
    @Test func `four concurrent processes lose nothing and double nothing`() async throws {
      try await withTemporaryDirectory { directory in
        let path = directory + "/q"
        await withTaskGroup(of: Void.self) { group in
          for number in 0..<4 {
            group.addTask {
              await #expect(processExitsWith: .success) {
                [path = path as String, number = number as Int] in
                try work(path: path, number: number)
              }
            }
          }
        }
        let queue = try QueueFile(path: path, limits: many, now: noon)
        let left = try queue.allEntries()
        let own = (0..<4).flatMap { number in
          numbered("p\(number)-", 50).enumerated().filter { $0.0 % 2 == 0 }
        }
        #expect(Set(names(left)) == Set(own.map(\.element) + numbered("common-", 5)))
        #expect(left.count == 105)
        #expect(Set(left.map(\.place)).count == 105)
        for number in 0..<4 {
          let lane = try names(queue.entries(in: .account("\(number)")))
          #expect(lane == lane.sorted() && lane.count == 25)
        }
        let health = try queue.health()
        #expect(health.queued == 105 && health.tombstones == 100 && health.archived == [])
        #expect(try QueueCheck.run(path: path).isClean)
      }
    }

    @Test func `a lease excludes another process and ends with a killed process`() async throws {
      try await withTemporaryDirectory { directory in
        let site = Site(directory: directory)
        try site.fill(["a"])
        let queue = try site.open()
        var lease = try queue.lease(.device)
        #expect(lease != nil)
        await #expect(processExitsWith: .success) { [path = site.path as String] in
          let queue = try QueueFile(path: path, now: noon)
          #expect(try queue.lease(.device) == nil)
          #expect(try queue.lease(.account("alice")) != nil)
        }
        lease = nil
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = site.path as String] in
          let lease = try QueueFile(path: path, now: noon).lease(.device)
          #expect(lease != nil)
          kill(getpid(), SIGKILL)
        }
        lease = try queue.lease(.device)
        #expect(lease != nil)
        #expect(try queue.lease(.device) == nil)
        lease = nil
        #expect(try site.leftovers() == [])
      }
    }

    @Test func `a second queue in a process does not drop the locks of the first`() async throws {
      try await withTemporaryDirectory { directory in
        let site = Site(directory: directory)
        let first = try site.open()
        _ = try first.enqueue(entry("a"), now: noon)
        #expect(try names(site.open().allEntries()) == ["a"])
        // Closing a file drops all POSIX locks of the process on it. Without them, the last connection of
        // another process believes that it is the last of all, and deletes the log that the first queue writes to.
        await #expect(processExitsWith: .success) { [path = site.path as String] in
          _ = try QueueFile(path: path, now: noon).enqueue(entry("b"), now: noon)
        }
        _ = try first.enqueue(entry("c"), now: noon)
        await #expect(processExitsWith: .success) { [path = site.path as String] in
          let queue = try QueueFile(path: path, now: noon)
          #expect(try names(queue.allEntries()) == ["a", "b", "c"])
        }
      }
    }
  #endif

  @Test(arguments: 0..<10)
  func `queues that are opened at the same moment make one file`(round: Int) async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/q"
      if round > 2 {
        // As after a kill during the creation: everything is in the log.
        let connection = try Connection(path: path)
        try connection.applyNewFileSettings()
        try connection.execute("BEGIN; PRAGMA application_id=1349669169; CREATE TABLE begun(x); COMMIT")
        connection.leaveUntouchedOnClose()
      }
      let errors = await withTaskGroup(of: QueueError?.self) { group in
        for number in 0..<6 {
          group.addTask {
            await BlockingExecutor.offThePool { () -> QueueError? in
              do throws(QueueError) {
                _ = try QueueFile(path: path, now: noon).enqueue(entry("\(number)"), now: noon)
                return nil
              } catch {
                return error
              }
            }
          }
        }
        return await group.reduce(into: [QueueError]()) { if let error = $1 { $0.append(error) } }
      }
      #expect(errors == [])
      let queue = try QueueFile(path: path, now: noon)
      #expect(try queue.count() == 6)
    }
  }

  @Test func `no lock is held between two calls`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      let queue = try site.open()
      func expectNoLock() throws {
        let other = try Connection(path: site.path, busyTimeoutMilliseconds: 0)
        try other.execute("BEGIN IMMEDIATE; ROLLBACK")
        let lock = try AdvisoryLock(path: site.path + "-lock")
        #expect(try lock.tryLock())
      }
      try expectNoLock()
      _ = try queue.enqueue(entry("a"), now: noon)
      try expectNoLock()
      _ = try queue.allEntries()
      try expectNoLock()
      #expect(throws: QueueError.self) { try queue.postpone(key("absent"), until: noon, now: noon) }
      try expectNoLock()
      try queue.maintain(now: noon)
      try expectNoLock()
    }
  }

  @Test func `a writer that waited for another one counts its entry too, and does not pass the limit`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      let (path, limits) = (directory + "/q", QueueLimits(entries: 1))
      let first = try QueueFile(path: path, limits: limits, now: noon)
      // Used by one thread at a time.
      nonisolated(unsafe) let second = try QueueFile(path: path, limits: limits, now: noon)
      let turn = try AdvisoryLock(path: path + "-turn")
      let (answers, answer) = AsyncStream<QueueError?>.makeStream()
      _ = try first.enqueue(entry("first"), now: noon) { _ in
        Thread.detachNewThread {
          do throws(QueueError) {
            _ = try unsafe second.enqueue(entry("second"), now: noon)
            answer.yield(nil)
          } catch {
            answer.yield(error)
          }
          answer.finish()
        }
        do throws(FileError) {
          // Who waits has the turn.
          while try turn.tryLock() {
            turn.unlock()
            sched_yield()
          }
        } catch {
          Issue.record(error)
        }
      }
      for await error in answers {
        guard case .queueFull(.entries, needed: 2, allowed: 1) = error else {
          Issue.record("the second entry: \(error?.description ?? "queued")")
          continue
        }
      }
      #expect(try first.allEntries().map(\.key.rawValue) == ["first"])
    }
  }

  @Test func `callers that share a commit each have their own result`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      let passed = Locked<[Checkpoint]>([])
      let queue = try QueueFile(
        QueueSetup(
          path: site.path, vault: site.vault,
          checkpoint: { checkpoint in passed.withLock { $0.append(checkpoint) } }), now: noon)
      let errors = queue.groupCommit([
        operation { (file) throws(QueueError) in _ = try file.enqueue(entry("a"), now: noon) },
        operation { (file) throws(QueueError) in try file.postpone(key("absent"), until: noon, now: noon) },
        operation { (file) throws(QueueError) in _ = try file.enqueue(entry("b"), now: noon) },
        operation { (file) throws(QueueError) in try file.acknowledge([Settlement(key: key("a"))], now: noon)
        },
      ])
      #expect(errors == [nil, .unknownEntry(key("absent")), nil, nil])
      #expect(try names(queue.allEntries()) == ["b"])
      // No step that follows a commit ran before it.
      let steps = passed.withLock { $0 }
      let begins = try #require(steps.lastIndex(of: .enqueueBegin))
      #expect(try #require(steps.firstIndex(of: .enqueueCommitted)) > begins)
    }
  }
}

/// One caller's part of a group. In an array, such closures crash the compiler (Swift 6.3.1).
func operation(_ body: @escaping QueueFile.Operation) -> QueueFile.Operation { body }

private let many = QueueLimits(entries: 1_000)

/// One of several processes: queues 50 entries of its own and some common ones, and settles every second own one.
private func work(path: String, number: Int) throws {
  let queue = try QueueFile(path: path, limits: many, now: noon)
  for (index, name) in numbered("p\(number)-", 50).enumerated() {
    _ = try queue.enqueue(entry(name, lane: .account("\(number)")), now: noon)
    if index % 10 == 0 {
      _ = try queue.enqueue(entry(numbered("common-", 5)[index / 10], lane: .device), now: noon)
    }
    if index % 2 == 1 { try queue.acknowledge([Settlement(key: key(name))], now: noon) }
    if index == 25 { try queue.maintain(now: noon) }
  }
}

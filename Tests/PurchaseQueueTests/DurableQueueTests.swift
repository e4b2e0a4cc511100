import Dispatch
import Foundation
import PurchaseQueue
import PurchaseSQLite
import Testing

@Suite struct DurableQueueTests {
  private func open(_ directory: String, limits: QueueLimits = QueueLimits()) async throws -> DurableQueue {
    try await DurableQueue.open(path: directory + "/q", limits: limits, clock: { noon.date })
  }

  @Test func `callers at the same time each have their own result`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try await open(directory, limits: QueueLimits(entries: 20))
      let results = await withTaskGroup(of: Bool.self) { group in
        for index in 0..<40 {
          group.addTask {
            do throws(QueueError) {
              try await queue.enqueue(entry("k\(index)"))
              return true
            } catch .queueFull {
              return false
            } catch {
              Issue.record(error)
              return false
            }
          }
        }
        return await group.reduce(into: [Bool]()) { $0.append($1) }
      }
      #expect(results.count { $0 } == 20)
      #expect(try await queue.read { try $0.count() } == 20)
      try await queue.close()
      #expect(try QueueFile(path: directory + "/q", now: noon).allEntries().count == 20)
    }
  }

  @Test func `the call of a cancelled task is carried out`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try await open(directory)
      let task = Task {
        while !Task.isCancelled { await Task.yield() }
        return try await queue.enqueue(entry("a"))
      }
      task.cancel()
      guard case .inserted = try await task.value else {
        Issue.record("not inserted")
        return
      }
      #expect(try await queue.read { try $0.count() } == 1)
    }
  }

  @Test func `a closed queue throws closed`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try await open(directory)
      try await queue.enqueue(entry("a"))
      try await queue.close()
      await #expect(throws: QueueError.closed(path: directory + "/q")) { try await queue.enqueue(entry("b")) }
      await #expect(throws: QueueError.closed(path: directory + "/q")) {
        try await queue.read { try $0.count() }
      }
    }
  }

  @Test func `an entry from enqueuing to its outcome`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try await open(directory)
      try await queue.write { try $0.reserve("order", until: noon.adding(milliseconds: 1).date) }
      var reserving = entry("a", order: "1")
      reserving.reservation = "order"
      let new = reserving
      try await queue.enqueue(new)
      #expect(try await queue.read { try $0.health() }.reserved == 0)
      let next = try #require(try await queue.read { try $0.peek(.account("alice")) })
      #expect(next.payloads == new.payloads)
      try await queue.write { try $0.recordAttempt([new.key]) }
      try await queue.write { try $0.postpone(new.key, until: noon.adding(milliseconds: 5).date) }
      #expect(try await queue.read { try $0.nextReady() } == nil)
      #expect(try await queue.read { try $0.nextReadyDate() } == noon.adding(milliseconds: 5).date)
      try await queue.write { try $0.quarantine(new.key, reason: "rejected") }
      #expect(try await queue.read { try $0.peek(.account("alice")) } == nil)
      #expect(try await queue.read { try $0.quarantined() }.map(\.reason) == ["rejected"])
      try await queue.write { try $0.release(new.key) }
      #expect(try await queue.read { try $0.nextReady() }?.key == new.key)
      let settled = try await queue.acknowledge([Settlement(next.entry, outcome: "granted")])
      #expect(settled.map(\.outcome) == ["granted"])
      #expect(try await queue.read { try $0.caseFile(for: new.key) }?.attempts == 1)
      #expect(try await queue.read { try $0.lanes() }.isEmpty)
    }
  }

  /// An executor that counts its jobs.
  final class CountingExecutor: SerialExecutor, @unchecked Sendable {
    private let queue = DispatchQueue(label: "counting")
    private let jobs = Locked(0)

    var count: Int { jobs.value }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, *)
    func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job)) }

    func enqueue(_ job: UnownedJob) {
      jobs.withLock { $0 += 1 }
      queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
  }

  @Test func `the queue runs on the injected executor`() async throws {
    try await withTemporaryDirectory { directory in
      let executor = CountingExecutor()
      let queue = try await DurableQueue.open(path: directory + "/q", executor: executor)
      let before = executor.count
      try await queue.enqueue(entry("a"))
      #expect(executor.count > before)
    }
  }

  @Test func `the file is small again after a burst and a pause`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(
        path: directory + "/q", limits: QueueLimits(entries: 1_000, totalBytes: 10 << 20), now: noon)
      for index in 0..<400 {
        var new = entry("k\(index)")
        new.payloads = [Payload(kind: "p", bytes: Array("\(index)".utf8) + Array(repeating: 0, count: 8_000))]
        _ = try queue.enqueue(new, now: noon)
      }
      let keys = try queue.allEntries().map { Settlement(key: $0.key) }
      #expect(try queue.health().bytes > 3_200_000)
      try queue.acknowledge(keys, now: noon)
      try queue.maintain(now: noon)
      let health = try queue.health()
      #expect(health.fileBytes + health.logBytes < 200_000)
      #expect(health.freeBytes < 20_000)
    }
  }

  @Test func `tombstones are removed by number and age, those with a duty never`() async throws {
    try await withTemporaryDirectory { directory in
      let limits = QueueLimits(tombstones: 10, tombstoneAge: .seconds(1))
      let queue = try QueueFile(path: directory + "/q", limits: limits, now: noon)
      for index in 0..<30 {
        let new = entry("k\(index)")
        let now = noon.adding(milliseconds: Int64(index))
        _ = try queue.enqueue(new, now: now)
        try queue.acknowledge([Settlement(key: new.key, hasPendingFinish: index == 0)], now: now)
        #expect(try queue.health().tombstones <= 10)
      }
      #expect(try queue.tombstone(EntryKey(rawValue: "k0"))?.isFinishPending == true)
      #expect(try queue.tombstone(EntryKey(rawValue: "k29")) != nil)
      #expect(try queue.tombstone(EntryKey(rawValue: "k5")) == nil)
      try queue.maintain(now: noon.adding(milliseconds: 2_000))
      #expect(try queue.health().tombstones == 1)
    }
  }
}

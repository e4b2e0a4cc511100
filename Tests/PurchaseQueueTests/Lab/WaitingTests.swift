import Foundation
import PurchaseQueue
import PurchaseSQLite
import Testing

/// Waiting for another process, in virtual time: a pause takes none.
@Suite struct WaitingTests {
  /// A clock that only pauses advance, in microseconds.
  final class VirtualTime: Sendable {
    private let microseconds = Locked(0)
    private let end = Locked(Int.max)
    private let calls = Locked(0)

    var milliseconds: Int64 { Int64(microseconds.value / 1_000) }
    /// How often the queue has asked for the date: once in each call, before its deadline is set.
    var asked: Int { calls.value }

    /// The queue's own thread advances the clock. So that a test can keep up, it stands still at this moment.
    func stop(at milliseconds: Int) { end.withLock { $0 = milliseconds * 1_000 } }
    func goOn() { end.withLock { $0 = .max } }

    func date() -> Timestamp {
      calls.withLock { $0 += 1 }
      return noon
    }

    var patience: Patience {
      var patience = Patience()
      patience.now = { self.milliseconds }
      patience.pause = { pause in
        let end = self.end.value
        self.microseconds.withLock { $0 = max($0, min($0 + pause, end)) }
        await Task.yield()
      }
      return patience
    }
  }

  private func open(_ path: String, _ time: VirtualTime) async throws -> DurableQueue {
    try await DurableQueue.open(
      QueueSetup(path: path, limits: QueueLimits(entries: 1_000)), pause: .seconds(1_000),
      patience: time.patience, clock: { time.date() })
  }

  enum Holder: CaseIterable, Sendable { case queue, otherProgram }

  /// Runs `body` while another process writes: a queue with the lock of queues, or a program with SQLite's lock.
  private func whileHeld(_ path: String, by holder: Holder, _ body: () async throws -> Void) async throws {
    switch holder {
    case .queue:
      let lock = try AdvisoryLock(path: path + "-lock")
      #expect(try lock.tryLock())
      try await body()
      lock.unlock()
    case .otherProgram:
      let other = try Connection(path: path)
      try other.execute("BEGIN IMMEDIATE")
      try await body()
      try other.execute("ROLLBACK")
    }
  }

  @Test(arguments: Holder.allCases)
  func `each of 64 callers waits its own time-out, and readers wait for none`(holder: Holder) async throws {
    try await withTemporaryDirectory { directory in
      let time = VirtualTime()
      let queue = try await open(directory + "/q", time)
      try await queue.enqueue(entry("first"))
      try await whileHeld(directory + "/q", by: holder) {
        time.stop(at: 0)
        let asked = time.asked
        let waits = await withTaskGroup(of: Int64.self) { group in
          for index in 0..<64 {
            group.addTask {
              let begin = time.milliseconds
              await expectBusy { () throws(QueueError) in try await queue.enqueue(entry("k\(index)")) }
              return time.milliseconds - begin
            }
          }
          for _ in 0..<8 {
            group.addTask {
              do {
                #expect(try await queue.read { try $0.count() } == 1)
              } catch {
                Issue.record(error)
              }
              return 5_000
            }
          }
          // All of them have called by then.
          await until { time.asked >= asked + 72 }
          time.goOn()
          return await group.reduce(into: [Int64]()) { $0.append($1) }
        }
        #expect(waits.count == 72)
        #expect(waits.allSatisfy { (5_000...6_000).contains($0) }, "\(waits)")
      }
      try await queue.enqueue(entry("later"))
      #expect(try await queue.read { try $0.count() } == 2)
      try await queue.close()
    }
  }

  @Test func `callers in the line are served when the other process has written`() async throws {
    try await withTemporaryDirectory { directory in
      let time = VirtualTime()
      let queue = try await open(directory + "/q", time)
      let lock = try AdvisoryLock(path: directory + "/q-lock")
      #expect(try lock.tryLock())
      time.stop(at: 1_000)
      let asked = time.asked
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<64 { group.addTask { try await queue.enqueue(entry("k\(index)")) } }
        await until { time.asked >= asked + 64 && time.milliseconds == 1_000 }
        lock.unlock()
        time.goOn()
        try await group.waitForAll()
      }
      #expect(try await queue.read { try $0.count() } == 64)
      try await queue.close()
    }
  }

  @Test func `a closed queue waits until callers in the line have their answers`() async throws {
    try await withTemporaryDirectory { directory in
      let time = VirtualTime()
      let queue = try await open(directory + "/q", time)
      try await whileHeld(directory + "/q", by: .queue) {
        time.stop(at: 1_000)
        await withTaskGroup(of: Void.self) { group in
          group.addTask {
            await expectBusy { () throws(QueueError) in try await queue.enqueue(entry("a")) }
          }
          await until { time.milliseconds == 1_000 }
          group.addTask {
            do {
              try await queue.close()
            } catch {
              Issue.record(error)
            }
          }
          // The caller has no answer before the queue is being closed.
          await until { await isClosed(queue, directory + "/q") }
          time.goOn()
        }
        await #expect(throws: QueueError.closed(path: directory + "/q")) {
          try await queue.read { try $0.count() }
        }
      }
      #expect(try QueueFile(path: directory + "/q", now: noon).allEntries().isEmpty)
    }
  }

  private func isClosed(_ queue: DurableQueue, _ path: String) async -> Bool {
    do {
      _ = try await queue.read { try $0.count() }
      return false
    } catch {
      return error as? QueueError == .closed(path: path)
    }
  }

  @Test(arguments: [0, 31, 63])
  func `a refused caller does not cost the others another commit`(refused: Int) async throws {
    try await withTemporaryDirectory { directory in
      let limits = QueueLimits(entries: 1_000, totalBytes: 100_000)
      let queue = try QueueFile(path: directory + "/q", limits: limits, now: noon)
      let before = try commits(inLogOf: directory + "/q")
      let errors = queue.groupCommit(
        (0..<64).map { index in
          // Refused after it has changed something: the row of its payload is written first.
          let new = entry("k\(index)", bytes: index == refused ? 100_001 : 10 + index)
          return operation { (file) throws(QueueError) in _ = try file.enqueue(new, now: noon) }
        })
      #expect(errors.indices.filter { errors[$0] != nil } == [refused])
      #expect(try queue.count() == 63)
      #expect(try commits(inLogOf: directory + "/q") == before + 1)
      #expect(try QueueCheck.run(path: directory + "/q").isClean)
    }
  }

  /// Commits in a log that did not start again: frames with a size of the file (https://sqlite.org/walformat.html).
  private func commits(inLogOf path: String) throws -> Int {
    let log = Array(try Data(contentsOf: URL(fileURLWithPath: path + "-wal")))
    guard log.count > 32 else { return 0 }
    let salt = log[16..<24]
    return stride(from: 32, to: log.count - 24, by: 24 + 1_024).count { frame in
      log[frame + 8..<frame + 16].elementsEqual(salt) && log[frame + 4..<frame + 8].contains { $0 != 0 }
    }
  }
}

/// Expects that another process has written for too long.
private func expectBusy<R>(_ body: () async throws(QueueError) -> R) async {
  do throws(QueueError) {
    _ = try await body()
    Issue.record("not busy")
  } catch {
    guard case .busy = error else {
      Issue.record(error)
      return
    }
  }
}

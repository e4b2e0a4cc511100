import Foundation
import PurchaseQueue
import Testing

/// Several calls in one commit.
@Suite struct TogetherTests {
  private struct Mistake: Error, Equatable {}

  @Test func `the calls of a body are undone when it throws, and its error comes out`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try await DurableQueue.open(path: directory + "/q")
      try await queue.enqueue(entry("old"))
      await #expect(throws: Mistake()) {
        try await queue.write { writer in
          try writer.discard(EntryKey(rawValue: "old"), by: "test", reason: "test")
          try writer.enqueue(entry("new"))
          throw Mistake()
        }
      }
      await #expect(throws: QueueError.unknownEntry(EntryKey(rawValue: "absent"))) {
        try await queue.write { writer in
          try writer.enqueue(entry("new"))
          try writer.release(EntryKey(rawValue: "absent"))
        }
      }
      #expect(try await queue.read { try $0.entries(in: .account("alice")) }.map(\.key.rawValue) == ["old"])
      try await queue.close()
    }
  }

  @Test func `what a blocking body throws undoes its calls, in the file and in the vault`() async throws {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/vault")
      let queue = try QueueFile(path: directory + "/q", vault: vault)
      try queue.write { try $0.enqueue(entry("old")) }
      let items = try vault.list()
      #expect(throws: Mistake()) {
        try queue.write { writer in
          try writer.enqueue(entry("new"))
          #expect(try writer.reader.count() == 2)
          throw Mistake()
        }
      }
      #expect(try queue.read { try $0.count() } == 1)
      #expect(try vault.list() == items)
      try queue.write { writer in
        let left = try writer.reader.entries(in: .account("alice"))
        try writer.acknowledge(left.map { Settlement($0) })
        try writer.enqueue(entry("new"))
      }
      #expect(try queue.read { try $0.entries(in: .account("alice")) }.map(\.key.rawValue) == ["new"])
      // The mirror of the settled entry went with it, and the new one has its own.
      #expect(try queue.read { try $0.entry(EntryKey(rawValue: "new")) }?.isUnprotected == false)
    }
  }

  @Test func `a call whose error the body catches has changed nothing`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/q", limits: QueueLimits(totalBytes: 10_000))
      try queue.write { writer in
        try writer.enqueue(entry("a", bytes: 4_000))
        #expect(throws: QueueError.self) { try writer.enqueue(entry("a", bytes: 20_000)) }
        #expect(throws: QueueError.self) {
          try writer.recordAttempt([EntryKey(rawValue: "a"), EntryKey(rawValue: "absent")])
        }
        #expect(throws: QueueError.self) { try writer.enqueue(entry("b", bytes: 20_000)) }
      }
      let left = try #require(try queue.read { try $0.peek(.account("alice")) })
      #expect(left.payloads.map(\.bytes.count) == [4_000] && left.entry.attempts == 0)
      #expect(try queue.health().bytes == 4_000 && queue.count() == 1)
    }
  }

  @Test func `a commit inside a commit is undone alone`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/q")
      try queue.write { writer in
        try writer.enqueue(entry("outer"))
        #expect(throws: Mistake()) {
          try queue.write { inner in
            try inner.enqueue(entry("inner"))
            throw Mistake()
          }
        }
      }
      #expect(try queue.allEntries().map(\.key.rawValue) == ["outer"])
    }
  }

  @Test func `a body is undone as a whole when the queue repeats it in another file`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try await DurableQueue.open(path: directory + "/q", pause: .seconds(1_000))
      try await queue.enqueue(entry("old"))
      for name in ["q", "q-wal", "q-shm"] {
        try FileManager.default.moveItem(atPath: directory + "/" + name, toPath: directory + "/away-" + name)
      }
      await #expect(throws: Mistake()) {
        try await queue.write { writer in
          try writer.enqueue(entry("new"))
          throw Mistake()
        }
      }
      #expect(try await queue.read { try $0.count() } == 0)
      try await queue.close()
    }
  }

  @Test(arguments: [
    (0.0, Int64(0)), (1_700_000_000.123, 1_700_000_000_123), (-0.001, -1), (1e300, .max), (-1e300, .min),
    (.infinity, .max), (.nan, 0),
  ])
  func `a date becomes the nearest millisecond`(seconds: Double, milliseconds: Int64) {
    #expect(Timestamp(Date(timeIntervalSince1970: seconds)).milliseconds == milliseconds)
  }

  @Test func `a moment survives the way through a date`() {
    var random = RandomSource(seed: 7)
    for _ in 0..<1_000 {
      let moment = Timestamp(milliseconds: Int64(random.below(1 << 42)))
      #expect(Timestamp(moment.date) == moment)
    }
  }

  @Test func `a test of an app can make an entry`() {
    let made = Entry(
      key: EntryKey(rawValue: "a"), lane: "events", attempts: 2, attemptDate: noon.date,
      payloads: [
        PayloadReference(kind: "event", size: 3), PayloadReference(kind: "big", size: 9, isByReference: true),
      ])
    #expect(made.attemptDate == noon.date && made.readyDate == nil && made.state == .queued)
    #expect(made.payloads.map(\.isByReference) == [false, true])
  }

  @Test(arguments: [
    (0, 2_000), (1, 2_000), (2, 4_000), (11, 2_048_000), (12, 3_600_000), (10_000, 3_600_000),
  ])
  func `the back-off doubles up to its ceiling, with full jitter`(failures: Int, widest: Int64) {
    var random = RandomSource(seed: UInt64(failures))
    let delays = (0..<200).map { _ in Backoff().delay(afterFailures: failures, using: &random) }
    #expect(delays.allSatisfy { (.zero ... .milliseconds(widest)).contains($0) })
    #expect(
      delays.contains { $0 < .milliseconds(widest / 4) }
        && delays.contains { $0 > .milliseconds(widest * 3 / 4) })
  }
}

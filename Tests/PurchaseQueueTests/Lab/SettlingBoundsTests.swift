import Testing

@testable import PurchaseQueue

/// How many tombstones stay, and which outcomes wait for the app: to the tombstone and to the byte.
@Suite struct SettlingBoundsTests {
  private func withQueue(_ limits: QueueLimits, _ body: (QueueFile) throws -> Void) async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/q", limits: limits, now: noon)
      try body(queue)
      #expect(try QueueCheck.run(path: queue.path).isClean)
    }
  }

  /// Queues and settles an entry with a key of two digits: each tombstone has the same length.
  private func settle(
    _ number: Int, in queue: QueueFile, hasPendingFinish: Bool = false, isUnconfirmed: Bool = false
  )
    throws
  {
    let name = "e\(number + 10)"
    let now = noon.adding(milliseconds: Int64(number))
    _ = try queue.enqueue(entry(name), now: now)
    let settlement = Settlement(
      key: key(name), hasPendingFinish: hasPendingFinish, isUnconfirmed: isUnconfirmed)
    try queue.acknowledge([settlement], now: now)
  }

  /// The bytes of one tombstone of `settle`.
  private func bytesOfOne() async throws -> Int {
    var bytes = 0
    try await withQueue(QueueLimits()) { queue in
      try settle(0, in: queue)
      bytes = try queue.totals().tombstoneBytes
    }
    return bytes
  }

  @Test func `tombstones stay up to their number, and then a sixteenth of them goes`() async throws {
    try await withQueue(QueueLimits(tombstones: 30)) { queue in
      for number in 0..<30 { try settle(number, in: queue) }
      #expect(try queue.health().tombstones == 30)
      try settle(30, in: queue)
      #expect(try queue.health().tombstones == 29)
      #expect(try queue.newestTombstones(100).map(\.key.rawValue).sorted() == (12...40).map { "e\($0)" })
    }
  }

  @Test func `tombstones stay up to their bytes, and then a sixteenth of these goes`() async throws {
    let one = try await bytesOfOne()
    try await withQueue(QueueLimits(tombstoneBytes: 16 * one)) { queue in
      for number in 0..<16 { try settle(number, in: queue) }
      #expect(try queue.health().tombstones == 16)
      try settle(16, in: queue)
      #expect(try queue.health().tombstones == 15)
    }
  }

  @Test func `outcomes wait for the app up to their number, and the oldest goes first`() async throws {
    try await withQueue(QueueLimits(unconfirmedOutcomes: 3)) { queue in
      for number in 0..<3 { try settle(number, in: queue, isUnconfirmed: true) }
      #expect(try [queue.health().unconfirmed, queue.outcomesForgotten()] == [3, 0])
      try settle(3, in: queue, isUnconfirmed: true)
      #expect(try queue.tombstonesWithDuties().map(\.key.rawValue) == ["e11", "e12", "e13"])
      #expect(try queue.outcomesForgotten() == 1)
    }
  }

  @Test func `outcomes wait for the app up to half of the tombstones' bytes`() async throws {
    let one = try await bytesOfOne()
    try await withQueue(QueueLimits(tombstoneBytes: 6 * one)) { queue in
      for number in 0..<3 { try settle(number, in: queue, isUnconfirmed: true) }
      #expect(try queue.health().unconfirmed == 3)
      try settle(3, in: queue, isUnconfirmed: true)
      #expect(try [queue.health().unconfirmed, queue.outcomesForgotten()] == [3, 1])
    }
  }

  @Test func `the only outcome that waits gives way to finishes that are pending`() async throws {
    let one = try await bytesOfOne()
    try await withQueue(QueueLimits(tombstoneBytes: 6 * one)) { queue in
      for number in 0..<3 { try settle(number, in: queue, hasPendingFinish: true) }
      try settle(3, in: queue, isUnconfirmed: true)
      #expect(try [queue.health().unconfirmed, queue.health().pendingFinishes] == [0, 3])
    }
  }

  @Test func `a lower limit removes more than a thousand tombstones at once`() async throws {
    try await withQueue(QueueLimits(entries: 2_000)) { queue in
      let names = (0..<1_100).map { "t\($0)" }
      try queue.transaction { () throws(QueueError) in
        for name in names { _ = try queue.enqueue(entry(name), now: noon) }
        try queue.acknowledge(names.map { Settlement(key: key($0)) }, now: noon)
      }
      #expect(try queue.health().tombstones == 1_100)
      let lower = try QueueFile(path: queue.path, limits: QueueLimits(tombstones: 16), now: noon)
      try settle(0, in: lower)
      #expect(try lower.health().tombstones == 15)
    }
  }

  @Test func `an update that is settled beside its tombstone frees its place, and leaves the tombstone`()
    async throws
  {
    try await withQueue(QueueLimits(entries: 1)) { queue in
      _ = try queue.enqueue(entry("a"), now: noon)
      try queue.acknowledge([Settlement(key: key("a"), outcome: "granted")], now: noon)
      var update = entry("a")
      update.isUpdate = true
      _ = try queue.enqueue(update, now: noon)
      var settlement = Settlement(key: key("a"), outcome: "revoked")
      settlement.keepsTombstone = true
      try queue.acknowledge([settlement], now: noon)
      #expect(try used(queue) == [0, 0])
      #expect(try queue.newestTombstones(9).map(\.outcome) == ["granted"])
      _ = try queue.enqueue(entry("b"), now: noon)
    }
  }

  @Test func `a finish that is pending stays pending, and counted, when an update is settled without one`()
    async throws
  {
    try await withQueue(QueueLimits()) { queue in
      try settle(0, in: queue, hasPendingFinish: true)
      let pending = try queue.totals().dutyBytes
      var update = entry("e10")
      update.isUpdate = true
      _ = try queue.enqueue(update, now: noon)
      try queue.acknowledge([Settlement(key: key("e10"))], now: noon)
      #expect(try [queue.health().pendingFinishes, queue.totals().duties] == [1, 1])
      #expect(try queue.totals().dutyBytes == pending)
    }
  }

  @Test func `old tombstones that a new process drops are counted as dropped`() async throws {
    try await withQueue(QueueLimits()) { queue in
      for number in 0..<3 { try settle(number, in: queue) }
      let month = noon.adding(milliseconds: queue.limits.tombstoneAge.wholeMilliseconds + 1)
      let other = try QueueFile(path: queue.path, now: noon)
      try other.maintain(now: month)
      #expect(try other.health().tombstones == 1)
      #expect(try queue.totals().tombstones == 1)
    }
  }

  @Test func `only what was discarded counts as discarded`() async throws {
    try await withQueue(QueueLimits()) { queue in
      try settle(0, in: queue)
      _ = try queue.enqueue(entry("a"), now: noon)
      _ = try queue.discard(key("a"), by: "support", reason: "a test", now: noon)
      _ = try queue.discard(key("b"), by: "support", reason: "not there", now: noon)
      #expect(try [queue.books().discarded, queue.books().entered] == [1, 2])
    }
  }

  @Test func `payloads are in the order of their kinds, whatever came first`() async throws {
    try await withQueue(QueueLimits()) { queue in
      var new = entry("a")
      new.payloads = ["z", "b"].map { Payload(kind: $0, bytes: Array($0.utf8)) }
      _ = try queue.enqueue(new, now: noon)
      #expect(try queue.entry(key("a"))?.payloads.map(\.kind) == ["b", "z"])
      for kind in ["m", "a"] {
        new.payloads = [Payload(kind: kind, bytes: [1])]
        _ = try queue.enqueue(new, now: noon)
      }
      #expect(try queue.entry(key("a"))?.payloads.map(\.kind) == ["a", "b", "m", "z"])
    }
  }
}

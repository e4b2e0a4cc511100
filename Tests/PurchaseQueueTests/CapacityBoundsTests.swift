import Testing

@testable import PurchaseQueue

/// The limits of the queue, to the byte and to the entry.
@Suite struct CapacityBoundsTests {
  private func withQueue(_ limits: QueueLimits, _ body: (QueueFile) throws -> Void) async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/q", limits: limits, now: noon)
      try body(queue)
      #expect(try QueueCheck.run(path: queue.path).isClean)
    }
  }

  /// What lacks capacity; nil if the call works.
  private func refused(_ call: () throws -> Void) -> QueueError? {
    do {
      try call()
      return nil
    } catch {
      return error as? QueueError
    }
  }

  @Test func `entries and their bytes are taken up to the limit`() async throws {
    try await withQueue(QueueLimits(entries: 3, totalBytes: 300)) { queue in
      for name in ["a", "b", "c"] { _ = try queue.enqueue(entry(name), now: noon) }
      let limits = QueueError.queueFull(.entries, needed: 4, allowed: 3)
      #expect(refused { _ = try queue.enqueue(entry("d"), now: noon) } == limits)
    }
    try await withQueue(QueueLimits(totalBytes: 300)) { queue in
      for name in ["a", "b", "c"] { _ = try queue.enqueue(entry(name), now: noon) }
      let limits = QueueError.queueFull(.totalBytes, needed: 301, allowed: 300)
      #expect(refused { _ = try queue.enqueue(entry("d", bytes: 1), now: noon) } == limits)
    }
  }

  @Test func `a reservation of usual size takes 64 KiB, one of none is possible, a negative one is not`()
    async throws
  {
    try await withQueue(QueueLimits(totalBytes: 64 << 10)) { queue in
      try queue.reserve("order", until: noon, now: noon)
      #expect(try queue.health().reservedBytes == 64 << 10)
      try queue.reserve("none", bytes: 0, until: noon.adding(milliseconds: 1), now: noon)
      #expect(try queue.health().reserved == 2)
      #expect(refused { try queue.reserve("less", bytes: -1, until: noon, now: noon) } != nil)
    }
    try await withQueue(QueueLimits(totalBytes: (64 << 10) - 1)) { queue in
      #expect(refused { try queue.reserve("order", until: noon, now: noon) } != nil)
    }
  }

  @Test func `texts are taken up to the limit`() async throws {
    let limits = QueueLimits(textBytes: 100)
    try await withQueue(limits) { queue in
      let longest = String(repeating: "n", count: 100)
      try queue.reserve(longest, until: noon, now: noon)
      #expect(refused { try queue.reserve(longest + "n", until: noon, now: noon) } != nil)
      func named(_ extra: Int) -> NewEntry {
        var new = entry("k", lane: "lane", order: "order")
        new.details = String(repeating: "d", count: 100 - 1 - 4 - 5 + extra)
        return new
      }
      #expect(refused { _ = try queue.enqueue(named(1), now: noon) } != nil)
      _ = try queue.enqueue(named(0), now: noon)
      func settlement(_ extra: Int) -> Settlement {
        Settlement(
          key: key("k"), outcome: String(repeating: "o", count: 95 + extra), orderNumber: "order")
      }
      #expect(refused { try queue.acknowledge([settlement(1)], now: noon) } != nil)
      try queue.acknowledge([settlement(0)], now: noon)
    }
  }

  @Test func `a reservation holds capacity until it ends, and not after that`() async throws {
    let end = noon.adding(milliseconds: 1_000)
    for limits in [QueueLimits(entries: 2), QueueLimits(totalBytes: 250)] {
      try await withQueue(limits) { queue in
        try queue.reserve("order", bytes: 100, until: end, now: noon)
        _ = try queue.enqueue(entry("a"), now: noon)
        let early = end.adding(milliseconds: -1)
        #expect(refused { _ = try queue.enqueue(entry("b"), now: early) } != nil)
        _ = try queue.enqueue(entry("b"), now: end)
        #expect(try queue.health().reserved == 0)
      }
    }
  }

  @Test func `a receipt that covers others replaces theirs, one by one, until it fits`() async throws {
    try await withQueue(QueueLimits(totalBytes: 1_000)) { queue in
      for name in ["a", "b", "c"] { _ = try queue.enqueue(entry(name, bytes: 300), now: noon) }
      var new = entry("d", bytes: 400)
      new.covers = [key("a"), key("b"), key("c")]
      _ = try queue.enqueue(new, now: noon)
      let receipts = try ["a", "b", "c", "d"].map { try #require(try queue.entry(key($0))).payloads }
      #expect(
        receipts[0] == receipts[3] && receipts[1].map(\.size) == [300] && receipts[2].map(\.size) == [300])
      #expect(try used(queue) == [4, 1_000])
      #expect(try queue.entry(key("a"))?.history.text.contains("newer payload") == true)
      try queue.acknowledge([Settlement(key: key("d"))], now: noon)
      #expect(try queue.peek(.account("alice"))?.payloads.map(\.bytes.count) == [400], "it is a's as well")
      try queue.acknowledge([Settlement(key: key("a"))], now: noon)
      #expect(try used(queue) == [2, 600])
    }
  }

  @Test func `finishes that are pending refuse new entries from the limit on`() async throws {
    var pending = 0
    for tight in [false, true] {
      let limits = QueueLimits(tombstoneBytes: tight ? pending : pending + 1_000)
      try await withQueue(limits) { queue in
        _ = try queue.enqueue(entry("a"), now: noon)
        try queue.acknowledge([Settlement(key: key("a"), hasPendingFinish: true)], now: noon)
        pending = try queue.totals().dutyBytes
        #expect((refused { _ = try queue.enqueue(entry("b"), now: noon) } != nil) == tight)
      }
    }
  }

  /// A place in the queue comes by itself. The finishes need the store.
  @Test func `of a queue that is full in two ways, the pending finishes are named`() async throws {
    try await withQueue(QueueLimits()) { queue in
      for name in ["a", "b"] { _ = try queue.enqueue(entry(name), now: noon) }
      try queue.acknowledge([Settlement(key: key("a"), hasPendingFinish: true)], now: noon)
      let pending = try queue.totals().dutyBytes
      let tight = QueueLimits(entries: 1, tombstoneBytes: pending)
      let full = try QueueFile(path: queue.path, limits: tight, now: noon)
      let limits = QueueError.queueFull(.tombstoneBytes, needed: pending, allowed: pending)
      #expect(refused { _ = try full.enqueue(entry("c"), now: noon) } == limits)
    }
  }
}

import PurchaseSQLite
import Testing

@testable import PurchaseQueue

/// Attempts, quarantine and release: what is written, reported and limited.
@Suite struct TurnBoundsTests {
  private func withQueue(
    _ limits: QueueLimits = QueueLimits(),
    _ body: (QueueFile, Locked<[QueueChange]>, Locked<[Checkpoint]>) throws -> Void
  ) async throws {
    try await withTemporaryDirectory { directory in
      let (changes, checkpoints) = (Locked<[QueueChange]>([]), Locked<[Checkpoint]>([]))
      var setup = QueueSetup(
        path: directory + "/q", limits: limits,
        checkpoint: { checkpoint in checkpoints.withLock { $0.append(checkpoint) } })
      setup.changes = { change in changes.withLock { $0.append(change) } }
      let queue = try QueueFile(setup, now: noon)
      for name in ["a", "b", "c"] { _ = try queue.enqueue(entry(name), now: noon) }
      changes.withLock { $0 = [] }
      checkpoints.withLock { $0 = [] }
      try body(queue, changes, checkpoints)
      #expect(try QueueCheck.run(path: queue.path).isClean)
    }
  }

  @Test func `each turn of an entry is counted, dated, noted and reported, after its commit`() async throws {
    try await withQueue { queue, changes, checkpoints in
      let later = noon.adding(milliseconds: 5)
      try queue.recordAttempt([key("a")], now: later)
      try queue.quarantine(key("a"), reason: "refused", now: later)
      let hasSome = try queue.hasQuarantined()
      try queue.release(key("a"), now: later)
      let hasNone = try queue.hasQuarantined()
      #expect(hasSome && !hasNone)
      #expect(checkpoints.value == [.attemptCommitted, .quarantineCommitted, .releaseCommitted])
      #expect(changes.value == [.quarantined, .released])
      let entry = try #require(try queue.entry(key("a")))
      #expect(entry.attempts == 1 && entry.attemptedAt == later && entry.reason == nil)
      #expect(entry.readyAt == Timestamp(milliseconds: 0))
      let notes = ["attempt 1", "quarantined: refused", "released from quarantine"]
      #expect(notes.allSatisfy { entry.history.text.contains($0) })
    }
  }

  @Test func `what does not happen is not reported`() async throws {
    try await withQueue { queue, changes, checkpoints in
      #expect(throws: QueueError.unknownEntry(key("x"))) {
        try queue.quarantine(key("x"), reason: "", now: noon)
      }
      #expect(throws: QueueError.unknownEntry(key("x"))) { try queue.release(key("x"), now: noon) }
      #expect(throws: QueueError.unknownEntry(key("x"))) {
        try queue.recordAttempt([key("a"), key("x")], now: noon)
      }
      #expect(changes.value.isEmpty && checkpoints.value.isEmpty)
      let attempts = try queue.entry(key("a"))?.attempts
      #expect(attempts == 0, "all of them, or none")
    }
  }

  @Test(arguments: [QueueLimits(quarantinedEntries: 2), QueueLimits(quarantinedBytes: 200)])
  func `the quarantine takes entries up to its limits, and their capacity is free`(limits: QueueLimits)
    async throws
  {
    try await withQueue(limits) { queue, _, _ in
      for name in ["a", "b"] { try queue.quarantine(key(name), reason: "", now: noon) }
      #expect(throws: QueueError.self) { try queue.quarantine(key("c"), reason: "", now: noon) }
      let queued = try queue.health().queued
      #expect(queued == 1, "what is in quarantine takes no place in the queue")
    }
  }

  @Test func `a released entry needs capacity, up to the limit`() async throws {
    try await withQueue(QueueLimits(entries: 3)) { queue, _, _ in
      try queue.quarantine(key("a"), reason: "", now: noon)
      _ = try queue.enqueue(entry("d"), now: noon)
      #expect(throws: QueueError.queueFull(.entries, needed: 4, allowed: 3)) {
        try queue.release(key("a"), now: noon)
      }
      try queue.acknowledge([Settlement(key: key("d"))], now: noon)
      try queue.release(key("a"), until: noon, now: noon)
      let readyAt = try queue.entry(key("a"))?.readyAt
      #expect(readyAt == noon)
    }
  }

  @Test func `a release takes the capacity of a reservation that has ended, for good`() async throws {
    try await withQueue(QueueLimits(entries: 3)) { queue, _, _ in
      try queue.quarantine(key("a"), reason: "", now: noon)
      try queue.reserve("sheet", bytes: 10, until: noon.adding(milliseconds: 1), now: noon)
      #expect(throws: QueueError.self) { try queue.release(key("a"), now: noon) }
      try queue.release(key("a"), now: noon.adding(milliseconds: 2))
      let health = try queue.health()
      #expect([health.queued, health.reserved, health.reservedBytes] == [3, 0, 0])
    }
  }

  @Test func `a page of texts in the largest file holds 1,020 bytes`() {
    func largest(pages: Int) -> Int {
      QueueLimits(
        entries: 1, totalBytes: 0, textBytes: pages * 1_020, quarantinedEntries: 0, tombstoneBytes: 0
      )
      .largestFileBytes
    }
    // The row, two indexes, a reservation, and two tombstones with twice the texts.
    #expect(largest(pages: 2_000) - largest(pages: 1_000) == 1_000 * (1 + 2 + 1 + 2 * 2) * 1_024)
  }

  @Test func `each limit adds its share to the largest file`() {
    func largest(
      entries: Int = 0, totalBytes: Int = 0, textBytes: Int = 0, quarantined: Int = 0, tombstoneBytes: Int = 0
    ) -> Int {
      QueueLimits(
        entries: entries, totalBytes: totalBytes, textBytes: textBytes, quarantinedEntries: quarantined,
        tombstoneBytes: tombstoneBytes
      ).largestFileBytes
    }
    let fixed = 128 << 10
    #expect(largest() == fixed)
    #expect(largest(textBytes: 100_000) == fixed, "texts are those of entries")
    #expect(largest(tombstoneBytes: 1_000) == fixed + 4_000)
    #expect(
      largest(totalBytes: 10 << 10) == fixed + (10 << 10) + 10 * 4,
      "a page of the rest has a number of four bytes")
    // The row, its two indices, eight blobs, and the tombstone that it may leave: each a third of a page filled, and
    // whole pages for what is longer.
    func pages(_ bytes: Int) -> Int { bytes + bytes / 1_020 * 4 + 3 * 1_024 }
    let history = 32 * (20 + 1 + Redaction.longest + 1)
    let texts = 128 + Redaction.longest + history + 8 * (20 + 1 + 20 + 1 + 64 + 1)
    for text in [0, 8_192] {
      let row = pages(text + texts) + 2 * pages(text) + 8 * 3 * 1_024
      let tombstone = pages(2 * text + 128 + history)
      #expect(largest(textBytes: text, quarantined: 1) == fixed + row + tombstone)
      #expect(largest(entries: 1, textBytes: text) == fixed + row + 2 * tombstone + pages(text))
    }
  }
}

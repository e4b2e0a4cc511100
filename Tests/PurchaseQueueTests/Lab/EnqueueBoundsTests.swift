import PurchaseSQLite
import Testing

@testable import PurchaseQueue

/// What is queued, what is refused, and who learns of it.
@Suite struct EnqueueBoundsTests {
  private func withQueue(_ body: (QueueFile, Locked<[QueueChange]>, Locked<[Checkpoint]>) throws -> Void)
    async throws
  {
    try await withTemporaryDirectory { directory in
      let (changes, checkpoints) = (Locked<[QueueChange]>([]), Locked<[Checkpoint]>([]))
      var setup = QueueSetup(
        path: directory + "/q", limits: QueueLimits(textBytes: 100),
        checkpoint: { checkpoint in checkpoints.withLock { $0.append(checkpoint) } })
      setup.changes = { change in changes.withLock { $0.append(change) } }
      let queue = try QueueFile(setup, now: noon)
      checkpoints.withLock { $0 = [] }
      try body(queue, changes, checkpoints)
      #expect(try QueueCheck.run(path: queue.path).isClean)
    }
  }

  private func isTaken(_ new: NewEntry, by queue: QueueFile) -> Bool {
    do {
      _ = try queue.enqueue(new, now: noon)
      return true
    } catch {
      return false
    }
  }

  private func new(_ name: String, kinds: [String]) -> NewEntry {
    var new = entry(name)
    new.payloads = kinds.map { Payload(kind: $0, bytes: Array($0.utf8)) }
    return new
  }

  @Test(arguments: [
    ("", false), ("k", true), (String(repeating: "k", count: 64), true),
    (String(repeating: "k", count: 65), false), ("a kind", true), ("a\u{1F}kind", false), ("a\nkind", false),
  ])
  func `a payload's kind has 1 to 64 bytes in one line`(kind: String, isGood: Bool) async throws {
    try await withQueue { queue, _, _ in
      #expect(isTaken(new("a", kinds: [kind]), by: queue) == isGood)
      let count = try queue.count()
      #expect(count == (isGood ? 1 : 0))
    }
  }

  @Test func `an entry has eight payloads of different kinds at most, at once or one after the other`()
    async throws
  {
    try await withQueue { queue, _, _ in
      let kinds = (1...9).map { "kind \($0)" }
      #expect(!isTaken(new("a", kinds: kinds), by: queue))
      #expect(isTaken(new("a", kinds: kinds.dropLast()), by: queue))
      #expect(!isTaken(new("b", kinds: ["kind 1", "kind 1"]), by: queue))
      for kind in kinds.prefix(8) { #expect(isTaken(new("c", kinds: [kind]), by: queue)) }
      #expect(!isTaken(new("c", kinds: [kinds[8]]), by: queue))
      let entry = try queue.entry(key("c"))
      #expect(entry?.payloads.count == 8)
    }
  }

  @Test func `an entry without an order has all of the texts' limit for itself`() async throws {
    try await withQueue { queue, _, _ in
      func new(_ bytes: Int) -> NewEntry {
        var new = entry("k", lane: "lane")
        new.details = String(repeating: "d", count: bytes - 5)
        return new
      }
      #expect(!isTaken(new(101), by: queue))
      #expect(isTaken(new(100), by: queue))
    }
  }

  @Test func `what is queued or settled is known`() async throws {
    try await withQueue { queue, _, _ in
      #expect(try queue.isKnown(key("a")) == false)
      _ = try queue.enqueue(entry("a"), now: noon)
      #expect(try [queue.isKnown(key("a")), queue.isKnown(key("b"))] == [true, false])
      try queue.acknowledge([Settlement(key: key("a"))], now: noon)
      #expect(try queue.isKnown(key("a")))
    }
  }

  @Test func `a redelivery brings an order, and ends its reservation, although nothing else is new`()
    async throws
  {
    try await withQueue { queue, _, _ in
      _ = try queue.enqueue(entry("a"), now: noon)
      _ = try queue.enqueue(entry("a", order: "order 1"), now: noon)
      #expect(try queue.entry(key("a"))?.orderNumber == "order 1")
      try queue.reserve("r", bytes: 10, until: noon.adding(milliseconds: 1), now: noon)
      var again = entry("a", order: "order 1")
      again.reservation = "r"
      _ = try queue.enqueue(again, now: noon)
      #expect(try [queue.health().reserved, queue.health().reservedBytes] == [0, 0])
    }
  }

  @Test func `a newer payload is noted, and only the newest notes stay`() async throws {
    try await withQueue { queue, _, _ in
      _ = try queue.enqueue(entry("a"), now: noon)
      _ = try queue.enqueue(entry("a", bytes: 50), now: noon)
      let noted = try queue.entry(key("a"))?.history.text.contains("newer payload")
      #expect(noted == true)
      for number in 0..<40 {
        try queue.postpone(key("a"), until: noon, reason: "wait \(number)", now: noon)
        let count = try queue.entry(key("a"))?.history.events.count
        #expect(count == min(number + 2, History.capacity))
      }
    }
  }

  @Test func `a file without a place left says that it is damaged, and takes nothing`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/q", now: noon)
      var totals = try queue.totals()
      totals.lastPlace = .max
      try QueueSchema.setTotals(totals, in: queue.connection)
      queue.statements.capacity.cache.forget()
      do {
        _ = try queue.enqueue(entry("a"), now: noon)
        Issue.record("it was queued")
      } catch QueueError.damaged {
        // As it should be.
      }
      #expect(try queue.allEntries().isEmpty)
    }
  }

  @Test func `each change is reported once, after its commit`() async throws {
    try await withQueue { queue, changes, checkpoints in
      _ = try queue.enqueue(entry("a"), now: noon)
      #expect(changes.value == [.entered(.new)])
      #expect(checkpoints.value == [.enqueueBegin, .enqueueCommitted, .enqueueMirrored])
      _ = try queue.enqueue(entry("a"), now: noon)
      #expect(changes.value == [.entered(.new), .collapsed])
      checkpoints.withLock { $0 = [] }
      try queue.acknowledge([Settlement(key: key("a"), outcome: "granted")], now: noon)
      #expect(checkpoints.value == [.settleCommitted, .settleMirrored])
      _ = try queue.enqueue(entry("a"), now: noon)
      #expect(changes.value.dropFirst(2) == [.settled("granted"), .known])
      var update = entry("a")
      update.isUpdate = true
      _ = try queue.enqueue(update, now: noon)
      _ = try queue.discard(key("a"), by: "support", reason: "a test", now: noon)
      #expect(changes.value.dropFirst(4) == [.entered(.update), .discarded])
      #expect(throws: QueueError.self) {
        try queue.enqueue(entry("b", order: String(repeating: "o", count: 100)), now: noon)
      }
      #expect(changes.value.count == 6)
    }
  }
}

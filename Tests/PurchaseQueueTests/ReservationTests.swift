import PurchaseQueue
import Testing

/// A reservation ends with what it was made for, however that ends.
@Suite struct ReservationTests {
  @Test func `an enqueue of something settled ends its reservation`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/q", now: noon)
      _ = try queue.enqueue(entry("a"), now: noon)
      try queue.acknowledge([Settlement(key: key("a"))], now: noon)
      try queue.reserve("order", until: Timestamp(milliseconds: .max), now: noon)
      var again = entry("a")
      again.reservation = "order"
      guard case .settled = try queue.enqueue(again, now: noon) else {
        Issue.record("it was queued")
        return
      }
      #expect(try queue.health().reserved == 0)
      #expect(try queue.health().reservedBytes == 0)
    }
  }

  @Test func `a settlement that names the order of a purchase ends the order's reservation`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/q", now: noon)
      try queue.reserve("7", until: Timestamp(milliseconds: .max), now: noon)
      try queue.reserve("8", until: Timestamp(milliseconds: .max), now: noon)
      _ = try queue.enqueue(entry("a"), now: noon)
      try queue.acknowledge(
        [Settlement(key: key("a"), orderNumber: "7", reservation: "7")], now: noon)
      #expect(try queue.health().reserved == 1)
      // Another process has settled it: the reservation ends all the same.
      try queue.acknowledge([Settlement(key: key("a"), reservation: "8")], now: noon)
      #expect(try queue.health().reserved == 0)
      #expect(try queue.health().reservedBytes == 0)
    }
  }

  @Test func `a reservation that displaces others takes the place of the one that ends first`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/q", limits: QueueLimits(entries: 3), now: noon)
      _ = try queue.enqueue(entry("a"), now: noon)
      for (name, time) in [("late", 9), ("soon", 5)] as [(String, Int64)] {
        try queue.reserve(name, until: noon.adding(milliseconds: time), now: noon)
      }
      let until = noon.adding(milliseconds: 7)
      #expect(throws: QueueError.self) { try queue.reserve("new", until: until, now: noon) }
      try queue.reserve("new", until: until, displacing: true, now: noon)
      #expect(try queue.health().reserved == 2)
      var late = entry("b")
      late.reservation = "late"
      _ = try queue.enqueue(late, now: noon)
      #expect(try queue.health().reserved == 1, "it was the one that ended first")
      // Entries give way to nothing.
      _ = try queue.enqueue(entry("c"), now: until)
      #expect(throws: QueueError.queueFull(.entries, needed: 4, allowed: 3)) {
        try queue.reserve("more", until: until, displacing: true, now: noon)
      }
      #expect(try QueueCheck.run(path: queue.path).isClean)
    }
  }

  /// A tombstone takes 170 bytes here, and what is unconfirmed takes half of their bytes at most.
  @Test(arguments: [
    (QueueLimits(entries: 2, unconfirmedOutcomes: 4), 4), (QueueLimits(entries: 2, tombstoneBytes: 2_000), 5),
  ])
  func `outcomes that are never seen have a limit of their own, by number and by bytes`(
    limits: QueueLimits, kept: Int
  ) async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/q", limits: limits, now: noon)
      for number in 0..<30 {
        _ = try queue.enqueue(entry("e\(number)"), now: noon.adding(milliseconds: Int64(number)))
        try queue.acknowledge(
          [Settlement(key: key("e\(number)"), isUnconfirmed: true)],
          now: noon.adding(milliseconds: Int64(number)))
      }
      let unconfirmed = try queue.tombstonesWithDuties().map(\.key.rawValue)
      #expect(unconfirmed == (30 - kept..<30).map { "e\($0)" })
      #expect(try queue.outcomesForgotten() == 30 - kept)
      #expect(try QueueCheck.run(path: queue.path).isClean)
    }
  }
}

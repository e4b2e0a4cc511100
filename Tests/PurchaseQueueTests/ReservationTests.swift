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
}

import PurchaseQueue
import PurchaseSQLite
import Testing

/// A flipped bit makes a small number a huge or a negative one. No number of a file is believed so far that it ends the
/// process, or that a purchase finds no place.
@Suite struct LyingNumberTests {
  static let numbers = [Int64.max, .max - 1, .min, -1, 1 << 62]
  static let columns = [
    "totals SET last_place", "totals SET queued", "totals SET bytes", "totals SET quarantined_bytes",
    "totals SET reserved_bytes", "totals SET tombstones", "totals SET duty_bytes", "entries SET ready_at",
    "entries SET attempts", "entries SET attempted_at", "entries SET enqueued_at", "payloads SET uses",
    "payloads SET checksum", "tombstones SET settled_at", "tombstones SET attempts", "reservations SET bytes",
    "reservations SET until",
  ]

  @Test(arguments: columns, numbers)
  func `a number that lies ends no process and keeps no purchase out`(column: String, number: Int64)
    async throws
  {
    try await withTemporaryDirectory { directory in
      let path = directory + "/q"
      do {
        let queue = try QueueFile(path: path, now: noon)
        for name in ["a", "b"] { _ = try queue.enqueue(entry(name), now: noon) }
        try queue.acknowledge([Settlement(key: EntryKey(rawValue: "a"), isUnconfirmed: true)], now: noon)
        try queue.reserve("sheet", bytes: 10, until: noon.adding(milliseconds: 1_000), now: noon)
        try queue.connection.execute("UPDATE \(column)=\(number)")
      }
      try Self.expectUsable(path, keeping: "b")
    }
  }

  @Test(arguments: [Int64.max, .max - 1, .min, -1, 0])
  func `a place that lies ends no process and keeps no purchase out`(place: Int64) async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/q"
      do {
        let queue = try QueueFile(path: path, now: noon)
        _ = try queue.enqueue(entry("b"), now: noon)
        try queue.connection.execute("UPDATE entries SET place=\(place)")
      }
      try Self.expectUsable(path, keeping: "b")
    }
  }

  /// Each call gets two tries: the first may find the damage, which the next opening salvages.
  private static func expectUsable(_ path: String, keeping name: String) throws {
    func call<R>(_ body: (QueueFile) throws -> R) throws -> R {
      do {
        return try body(QueueFile(path: path, now: noon))
      } catch QueueError.damaged {
        return try body(QueueFile(path: path, now: noon))
      }
    }
    _ = try call { try $0.nextReady(now: noon) }
    _ = try call { try $0.health() }
    _ = try call { try $0.enqueue(entry("new"), now: noon) }
    let kept = try call { try $0.allEntries().map(\.key.rawValue) }
    #expect(kept.sorted() == [name, "new"])
    for key in kept {
      try call { queue in
        // A damaged row is kept and not delivered; enqueued again, it is a new entry.
        _ = try queue.enqueue(entry(key), now: noon)
        try queue.recordAttempt([EntryKey(rawValue: key)], now: noon)
        try queue.acknowledge([Settlement(key: EntryKey(rawValue: key))], now: noon)
      }
    }
    #expect(try call { try $0.count() } == 0)
  }
}

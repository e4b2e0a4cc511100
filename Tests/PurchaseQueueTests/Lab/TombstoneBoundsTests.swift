import PurchaseSQLite
import Testing

@testable import PurchaseQueue

/// Tombstones, those with a duty included, are bounded, and a finish that is pending is not lost in silence.
@Suite struct TombstoneBoundsTests {
  @Test func `finishes that are pending refuse new entries at the limit, and are never dropped`() async throws
  {
    try await withTemporaryDirectory { directory in
      let limits = QueueLimits(tombstones: 100, tombstoneBytes: 64 << 10)
      let queue = try QueueFile(path: directory + "/q", limits: limits, now: noon)
      var settled: [String] = []
      var refusal: QueueError?
      for name in numbered("e", 900) {
        do throws(QueueError) {
          _ = try queue.enqueue(entry(name), now: noon)
        } catch {
          refusal = error
          break
        }
        // An acknowledgement is never refused.
        try queue.acknowledge([Settlement(key: key(name), hasPendingFinish: true)], now: noon)
        settled.append(name)
      }
      guard case .queueFull(.tombstoneBytes, let needed, allowed: 65_536) = refusal else {
        Issue.record("\(refusal as Any)")
        return
      }
      #expect((65_536..<66_536).contains(needed))
      #expect(settled.count > 200)
      #expect(try queue.tombstonesWithDuties().map(\.key.rawValue) == settled)
      #expect(throws: QueueError.self) { try queue.reserve("r", until: noon, now: noon) }
      // A redelivery of what is settled, and an update of it, are no new entries.
      _ = try queue.enqueue(entry(settled[0]), now: noon)
      var update = entry(settled[0])
      update.isUpdate = true
      _ = try queue.enqueue(update, now: noon)
      try queue.acknowledge([Settlement(key: key(settled[0]))], now: noon)
      // The sources are informed: the queue takes entries again, and the limit of the others holds.
      for name in settled { try queue.markFinished(key(name)) }
      _ = try queue.enqueue(entry("late"), now: noon)
      try queue.acknowledge([Settlement(key: key("late"))], now: noon)
      #expect(try queue.health().tombstones <= 100)
      #expect(try QueueCheck.run(path: queue.path).isClean)
    }
  }

  @Test func `what is paid is queued although finishes are pending`() async throws {
    try await withTemporaryDirectory { directory in
      let limits = QueueLimits(tombstoneBytes: 1_000)
      let queue = try QueueFile(path: directory + "/q", limits: limits, now: noon)
      try queue.reserve("paid", until: noon.adding(milliseconds: 1_000), now: noon)
      for name in ["a", "b", "c"] { _ = try queue.enqueue(entry(name), now: noon) }
      let owing = ["a", "b", "c"].map {
        Settlement(key: key($0), outcome: $0 + " is told", hasPendingFinish: true)
      }
      for _ in 0..<3 { try queue.acknowledge(owing, now: noon) }
      var more = 0
      while more < 20 {
        do { _ = try queue.enqueue(entry("more \(more)"), now: noon) } catch { break }
        try queue.acknowledge([Settlement(key: key("more \(more)"), hasPendingFinish: true)], now: noon)
        more += 1
      }
      #expect(more < 10)
      var paid = entry("paid")
      paid.reservation = "paid"
      _ = try queue.enqueue(paid, now: noon)
      #expect(try queue.count() == 1)
    }
  }

  @Test func `the oldest tombstones go first, by number and by bytes`() async throws {
    try await withTemporaryDirectory { directory in
      let limits = QueueLimits(tombstones: 1_000, tombstoneBytes: 20_000)
      let queue = try QueueFile(path: directory + "/q", limits: limits, now: noon)
      for (second, name) in numbered("e", 200).enumerated() {
        let now = noon.adding(milliseconds: Int64(second))
        _ = try queue.enqueue(entry(name), now: now)
        try queue.acknowledge([Settlement(key: key(name))], now: now)
      }
      let kept = try queue.newestTombstones(1_000).map(\.key.rawValue)
      #expect(kept.count > 50 && kept.count < 150)
      #expect(kept == Array(numbered("e", 200).reversed().prefix(kept.count)))
    }
  }

  @Test func `the counts of tombstones and of their bytes are those of a new count`() async throws {
    try await withTemporaryDirectory { directory in
      let limits = QueueLimits(tombstones: 16, tombstoneBytes: 8_000)
      let queue = try QueueFile(path: directory + "/q", limits: limits, now: noon)
      var random = RandomSource(seed: 7)
      for (second, name) in numbered("é\u{0}", 300).enumerated() {
        let now = noon.adding(milliseconds: Int64(second))
        _ = try queue.enqueue(entry(name, order: random.below(2) == 0 ? "7" : nil), now: now)
        try queue.recordAttempt([key(name)], now: now)
        let (owes, isUnconfirmed) = (random.below(3) == 0, random.below(4) == 0)
        try queue.acknowledge(
          [Settlement(key: key(name), hasPendingFinish: owes, isUnconfirmed: isUnconfirmed)], now: now)
        if owes, random.below(4) > 0 { try queue.markFinished(key(name), forgetting: random.below(2) == 0) }
        if isUnconfirmed { try queue.markConfirmed(key(name), forgetting: random.below(2) == 0) }
      }
      let before = try totals(queue)
      try queue.transaction { () throws(QueueError) in try queue.recount() }
      let after = try totals(queue)
      #expect(after == before)
    }
  }

  private func totals(_ queue: QueueFile) throws -> [Int64] {
    let row = try queue.connection.prepare(
      "SELECT tombstones, unconfirmed, duties, tombstone_bytes, duty_bytes FROM totals"
    ).first { row in (0..<5).map { row.integer($0) } }
    return try #require(row)
  }
}

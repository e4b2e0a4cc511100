import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import PurchaseSyncTesting
import TestSupport
import Testing

/// The engine's measurements, and the books of its queue.
@Suite struct MetricsTests {
  /// Plays a random life of an app: purchases of two accounts and of none, faults, discards and restarts.
  private func live(_ seed: UInt64, _ fixture: EngineFixture, restart: () async throws -> SyncEngine)
    async throws
  {
    var random = SplitMix64(seed: seed)
    var engine = try await restart()
    for _ in 0..<8 {
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1: try await fixture.buy(engine, account: Bool.random(using: &random) ? "alice" : "bob")
      case 2: try await engine.receive(try await fixture.pay())
      case 3:
        fixture.server.setFaults(.random(seed: seed, paths: ["/v1/receipts"], requests: 4, chance: 0.6))
      case 4:
        guard let purchase = try await engine.snapshot().purchases.first else { continue }
        try await engine.discard(purchase.key, by: "support", reason: "a test")
      default:
        await engine.shutdown()
        engine = try await restart()
      }
      let books = try await engine.books()
      let snapshot = try await engine.snapshot()
      // The engine may settle entries between the two calls.
      #expect(books.queued + books.quarantined >= snapshot.purchases.count)
    }
    try await fixture.finishAll(engine)
    await engine.shutdown()
  }

  @Test(arguments: LongTests.seeds(short: 4, long: 12))
  func `each entry of a random life is measured once, coming and going`(seed: UInt64) async throws {
    try await EngineFixture.with { fixture in
      var fixture = fixture
      let log = MeasurementLog()
      fixture.configuration.metrics = { log.add($0) }
      let site = fixture
      try await live(seed, site) { try await site.open() }
      let file = try QueueFile(path: fixture.configuration.path, now: Timestamp.wallClock())
      let books = try file.books()
      #expect(books.queued == 0 && books.quarantined == 0)
      // The counters know nothing of the file's numbers.
      #expect(log.count(.entered) == books.entered)
      #expect(log.count(.settled) == books.settled)
      #expect(log.count(.discarded) == books.discarded)
      #expect(log.count(.entered) == log.count(.settled) + log.count(.discarded))
      #expect(log.durations(.upload).contains("verdicts") || books.settled == 0)
      #expect(log.durations(.listing).contains("answered"))
    }
  }

  @Test func `a settlement is counted by its verdict, and a failed upload by its kind`() async throws {
    try await EngineFixture.with(.outage(path: "/v1/receipts", requests: 2)) { fixture in
      var fixture = fixture
      let log = MeasurementLog()
      fixture.configuration.metrics = { log.add($0) }
      let engine = try await fixture.open()
      try await fixture.buy(engine)
      try await fixture.finishAll(engine)
      #expect(log.count(.settled, reason: "granted") == 1 && log.count(.settled) == 1)
      #expect(log.durations(.upload) == ["backendBusy", "backendBusy", "verdicts"])
      #expect(log.durations(.receive) == ["stored"])
      #expect(log.durations(.finish) == ["answered"])
      #expect(try await engine.books() == QueueBooks(entered: 1))
      await engine.shutdown()
    }
  }

  @Test func `no measurement names an account, an order, a transaction or a product`() async throws {
    try await EngineFixture.with(.refusal(status: 418, retryAfter: nil)) { fixture in
      var fixture = fixture
      let log = MeasurementLog()
      fixture.configuration.metrics = { log.add($0) }
      fixture.configuration.currentAccount = { "alice-the-account" }
      let engine = try await fixture.open()
      let order = try await fixture.buy(engine, account: "alice-the-account")
      try await engine.receive(try await fixture.pay())
      let keys = try await engine.snapshot().purchases.map(\.key.rawValue)
      try await fixture.finishAll(engine)
      await engine.shutdown()
      let words = log.all.map {
        ([$0.label] + $0.dimensions.flatMap { [$0.0, $0.1] }).joined(separator: " ")
      }
      #expect(words.count > 5)
      for secret in keys + ["alice", order.number, order.accountToken.uuidString, EngineFixture.product] {
        #expect(!words.contains { $0.contains(secret) }, "\(secret)")
      }
      let labels = /purchase_sync\.[a-z]+( reason [a-zA-Z]+)?/
      for word in words { #expect(word.wholeMatch(of: labels) != nil, "\(word)") }
    }
  }

  @Test func `one line forwards counts and durations`() {
    let settled = SyncMeasurement(.settled, reason: "granted", .count(3))
    #expect(settled.label == "purchase_sync.settled" && settled.number == 3)
    #expect(settled.dimensions.map(\.0) == ["reason"] && settled.dimensions.map(\.1) == ["granted"])
    let listing = SyncMeasurement(.listing, .duration(.milliseconds(1_500)))
    #expect(listing.number == 1.5 && listing.dimensions.isEmpty)
  }

  @Test func `an interval begins and ends around the work`() async throws {
    try await EngineFixture.with { fixture in
      var fixture = fixture
      let open = Locked<[SyncMeasurement.Name: Int]>([:])
      let ended = Locked<Set<SyncMeasurement.Name>>([])
      fixture.configuration.intervals = { name in
        open.withLock { $0[name, default: 0] += 1 }
        return {
          open.withLock { $0[name, default: 0] -= 1 }
          ended.withLock { _ = $0.insert(name) }
        }
      }
      let engine = try await fixture.open()
      try await fixture.buy(engine)
      try await fixture.finishAll(engine)
      await engine.shutdown()
      #expect(ended.value == [.receive, .upload, .listing, .finish])
      #expect(open.value.values.allSatisfy { $0 == 0 })
    }
  }
}

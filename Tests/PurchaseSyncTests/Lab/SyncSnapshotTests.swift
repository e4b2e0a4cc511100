import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The data for a 'your purchases' screen and for a support person.
@Suite struct SyncSnapshotTests {
  private let alice = Lane.account("alice")

  @Test func `a purchase is shown with its product, its order and its state`() async throws {
    try await EngineFixture.with(.outage(path: "/v1/receipts", requests: 1_000)) { fixture in
      var fixture = fixture
      fixture.configuration.retry = RetryPolicy()
      fixture.configuration.retry.wakeJitterMilliseconds = 0
      let engine = try await fixture.open()
      let order = try await fixture.buy(engine)
      let snapshot = try await snapshot(of: engine) { $0.lanes.contains { $0.isWaiting } }
      let purchase = try #require(snapshot.purchases.first)
      #expect(snapshot.unsettled == 1)
      #expect(purchase.orderNumber == order.number)
      #expect(purchase.productID == EngineFixture.product)
      #expect(purchase.quantity == 1)
      #expect(purchase.lane == alice)
      #expect(purchase.attempts >= 1)
      let attempt = try #require(purchase.attemptedAt)
      #expect(attempt >= purchase.queuedAt)
      let paid = try #require(purchase.purchasedAt)
      #expect(try fixture.server.snapshot().charges.map(\.purchasedAt) == [paid])
      #expect(purchase.problem == nil && !purchase.isUnprotected)
      let lane = try #require(snapshot.lanes.first)
      #expect(lane.lane == alice && lane.entries == 1)
      guard case .waiting(let due, let reason) = lane.state else {
        Issue.record("not waiting: \(lane.state)")
        return
      }
      #expect(due > attempt)
      #expect(reason.contains("503"))
      await engine.shutdown()
    }
  }

  @Test func `a postponed entry shows until when it waits, and so does its lane`() async throws {
    try await EngineFixture.with(.oddReply(.pending(retryAfter: 3_000))) { fixture in
      var fixture = fixture
      fixture.configuration.retry.horizonMilliseconds = 86_400_000
      let engine = try await fixture.open()
      try await fixture.buy(engine)
      let snapshot = try await snapshot(of: engine) { $0.lanes.contains { $0.isWaiting } }
      let due = try #require(snapshot.purchases.first?.notBefore)
      #expect(
        snapshot.lanes.map(\.state) == [
          .waiting(until: due, reason: "each of its entries is postponed")
        ])
      await engine.shutdown()
    }
  }

  @Test func `a quarantined entry is shown with its reason, and is not counted in its lane`() async throws {
    try await EngineFixture.with(.oddReply(.word(.rejected), requests: nil)) { fixture in
      var fixture = fixture
      fixture.configuration.retry.quarantineRetryMilliseconds = 86_400_000
      fixture.configuration.vault = nil
      let engine = try await fixture.open()
      try await fixture.buy(engine)
      let snapshot = try await snapshot(of: engine) { $0.quarantined == 1 }
      #expect(snapshot.purchases.first?.problem?.hasPrefix("rejected") == true)
      #expect(snapshot.lanes == [])
      #expect(try fixture.server.snapshot().charges.map(\.isFinished) == [false])
      await engine.shutdown()
    }
  }

  @Test func `outcomes and pending finishes are counted until they are done`() async throws {
    try await EngineFixture.with { fixture in
      let store = GatedStore(inner: fixture.store)
      store.finishing.close()
      let engine = try await fixture.open(store: store)
      let order = try await fixture.buy(engine)
      try await until { store.finishing.arrivals == 1 }
      let snapshot = try await engine.snapshot()
      #expect(snapshot.unconfirmed == 1)
      #expect(snapshot.outcomes.map(\.orderNumber) == [order.number])
      #expect(snapshot.pendingFinishes == 1)
      #expect(snapshot.unsettled == 0)
      store.finishing.open()
      try await fixture.finishAll(engine)
      await engine.shutdown()
    }
  }

  @Test func `an entry whose text is damaged is shown nevertheless`() throws {
    let key = EntryKey(rawValue: "Production/100")
    var entry = Entry(
      place: 1, key: key, lane: alice, orderNumber: "1", details: "{", payloads: [], now: midday)
    entry.state = .damaged
    let purchase = SyncSnapshot.Purchase(entry)
    #expect(
      purchase
        == SyncSnapshot.Purchase(
          key: key, lane: alice, orderNumber: "1", productID: nil, quantity: nil, queuedAt: midday,
          problem: "damaged"))
  }
}

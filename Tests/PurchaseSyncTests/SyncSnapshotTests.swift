import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// What a 'your purchases' screen and a support person see.
@Suite(.timeLimit(.minutes(4))) struct SyncSnapshotTests {
  private let alice = Lane.account("alice")

  @Test func `a purchase is shown with what was bought, for which order, and how it fares`() async throws {
    try await EngineWorld.with(.outage(path: "/v1/receipts", requests: 1_000)) { world in
      var world = world
      world.configuration.retry = RetryPolicy()
      world.configuration.retry.wakeJitterMilliseconds = 0
      let engine = try await world.open()
      let order = try await world.buy(engine)
      let snapshot = try await snapshot(of: engine) { $0.lanes.contains { $0.isWaiting } }
      let purchase = try #require(snapshot.purchases.first)
      #expect(snapshot.unsettled == 1)
      #expect(purchase.orderNumber == order.number)
      #expect(purchase.productID == EngineWorld.product)
      #expect(purchase.quantity == 1)
      #expect(purchase.lane == alice)
      #expect(purchase.attempts >= 1)
      let attempt = try #require(purchase.attemptedAt)
      #expect(attempt >= purchase.queuedAt)
      let paid = try #require(purchase.purchasedAt)
      #expect(try world.server.snapshot().charges.map(\.purchasedAt) == [paid])
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

  @Test func `an entry that waits by itself says until when, and so does its lane`() async throws {
    try await EngineWorld.with(.oddReply(.pending(retryAfter: 3_000))) { world in
      var world = world
      world.configuration.retry.horizonMilliseconds = 86_400_000
      let engine = try await world.open()
      try await world.buy(engine)
      let snapshot = try await snapshot(of: engine) { $0.lanes.contains { $0.isWaiting } }
      let due = try #require(snapshot.purchases.first?.notBefore)
      #expect(
        snapshot.lanes.map(\.state) == [
          .waiting(until: due, reason: "each of its entries waits by itself")
        ])
      await engine.shutdown()
    }
  }

  @Test func `what is in quarantine is shown with its reason, and is in no lane's turn`() async throws {
    try await EngineWorld.with(.oddReply(.word(.rejected), requests: nil)) { world in
      var world = world
      world.configuration.retry.quarantineRetryMilliseconds = 86_400_000
      world.configuration.vault = nil
      let engine = try await world.open()
      try await world.buy(engine)
      let snapshot = try await snapshot(of: engine) { $0.quarantined == 1 }
      #expect(snapshot.purchases.first?.problem?.hasPrefix("rejected") == true)
      #expect(snapshot.lanes == [])
      #expect(try world.server.snapshot().charges.map(\.isFinished) == [false])
      await engine.shutdown()
    }
  }

  @Test func `outcomes, and what is owed to the store, are counted until they are done`() async throws {
    try await EngineWorld.with { world in
      let store = GatedStore(inner: world.store)
      store.finishing.close()
      let engine = try await world.open(store: store)
      let order = try await world.buy(engine)
      try await until { store.finishing.arrivals == 1 }
      let snapshot = try await engine.snapshot()
      #expect(snapshot.unseen == 1)
      #expect(snapshot.outcomes.map(\.orderNumber) == [order.number])
      #expect(snapshot.finishesOwed == 1)
      #expect(snapshot.unsettled == 0)
      store.finishing.open()
      try await world.finishAll(engine)
      await engine.shutdown()
    }
  }

  @Test func `an entry whose text is damaged is shown all the same`() throws {
    let key = EntryKey(rawValue: "Production/100")
    var entry = Entry(
      place: 1, key: key, lane: alice, orderNumber: "1", details: "{", proofs: [], now: midday)
    entry.state = .damaged
    let purchase = SyncSnapshot.Purchase(entry)
    #expect(
      purchase
        == SyncSnapshot.Purchase(
          key: key, lane: alice, orderNumber: "1", productID: nil, quantity: nil, queuedAt: midday,
          problem: "damaged"))
  }
}

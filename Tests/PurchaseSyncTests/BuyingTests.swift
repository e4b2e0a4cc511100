import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting
import Testing

/// What happens between the wish to buy and the outcome. The names begin with the probe that showed the fault.
@Suite struct BuyingTests {
  // MARK: Owned already

  @Test func `P1 an owned product bought again ends with its known outcome, and the order is closed`()
    async throws
  {
    try await BuyingFixture.with { shop in
      let engine = try await shop.open()
      let first = try await shop.buy("pro", engine)
      let second = try await engine.begin(product: "pro", account: "alice", context: "paywall 7")
      let returned = try await shop.pay(second)
      #expect(returned.transactionID == first.transaction.transactionID)
      try await engine.receive(returned, for: second)
      let outcome = try await shop.confirm(engine, second)
      #expect(outcome.isAlreadyOwned && outcome.verdict == .granted && outcome.key == first.transaction.key)
      #expect(outcome.context == "paywall 7")
      #expect(try await shop.order(second.number, engine)?.state == .alreadyOwned)
      #expect(try await engine.snapshot().outcomes.isEmpty)
      try await shop.waitForBackend(second.number, .cancelled)
      #expect(try shop.server.snapshot().credits.count == 1)
      await engine.shutdown()
    }
  }

  @Test func `P1b an unfinished consumable that the store returns for a new order is credited once`()
    async throws
  {
    try await BuyingFixture.with(.outage(path: "/v1/receipts", requests: 3)) { shop in
      shop.server.withStore { $0.faults.repeatsTransactions = true }
      let engine = try await shop.open()
      let first = try await engine.begin(product: "gems", account: "alice")
      let paid = try await shop.pay(first)
      try await engine.receive(paid, for: first)
      // Still queued: its outcome closes both orders.
      let second = try await engine.begin(product: "gems", account: "alice")
      let returned = try await shop.pay(second)
      #expect(returned.key == paid.key && second.number != first.number)
      try await engine.receive(returned, for: second)
      #expect(try await !shop.confirm(engine, first).isAlreadyOwned)
      let outcome = try await shop.confirm(engine, second)
      #expect(outcome.isAlreadyOwned && outcome.key == paid.key)
      #expect(try await shop.order(second.number, engine)?.state == .alreadyOwned)
      #expect(try shop.server.snapshot().credits.count == 1)
      await engine.shutdown()
    }
  }

  @Test func `the outcome of an owned product is reported again until it is confirmed`() async throws {
    try await BuyingFixture.with { shop in
      let engine = try await shop.open()
      try await shop.buy("pro", engine)
      let second = try await engine.begin(product: "pro", account: "alice")
      try await engine.receive(.purchased(try await shop.pay(second)), for: second)
      await engine.shutdown()
      let again = try await shop.open()
      let told = try await events(again) { $0.outcome?.orderNumber == second.number }
      #expect(told.last?.outcome?.isAlreadyOwned == true)
      try await shop.confirm(again, second)
      await again.shutdown()
      let third = try await shop.open()
      #expect(try await third.snapshot().outcomes.isEmpty)
      await third.shutdown()
    }
  }

  @Test func `a product that another account bought on this Apple ID is reported as another owner's`()
    async throws
  {
    try await BuyingFixture.with { shop in
      let engine = try await shop.open()
      try await shop.buy("pro", engine)
      let his = try await engine.begin(product: "pro", account: "bob")
      try await engine.receive(try await shop.pay(his), for: his)
      let outcome = try await shop.confirm(engine, his)
      #expect(outcome.verdict == .otherOwner && outcome.lane == .account("bob"))
      #expect(!"\(outcome)".contains("alice"))
      await engine.shutdown()
    }
  }

  @Test func `B10 a subscription bought again is one entitlement, and the order has an outcome`() async throws
  {
    try await BuyingFixture.with { shop in
      shop.server.withStore { $0.faults.repeatsTransactions = true }
      let engine = try await shop.open()
      try await shop.buy("plan", engine)
      let second = try await engine.begin(product: "plan", account: "alice")
      try await engine.receive(try await shop.pay(second), for: second)
      #expect(try await shop.confirm(engine, second).isAlreadyOwned)
      #expect(try shop.server.snapshot().credits.count == 1)
      await engine.shutdown()
    }
  }

  @Test func `B11 an update that is faster than the answer of the sheet leads to one outcome`() async throws {
    try await BuyingFixture.with { shop in
      let engine = try await shop.open()
      let order = try await engine.begin(product: "gems", account: "alice")
      let paid = try await shop.pay(order)
      try await engine.receive(paid)
      try await shop.deliverAll(engine)
      try await engine.receive(paid, for: order)
      let outcomes = try await engine.snapshot().outcomes
      #expect(outcomes.count == 1)
      #expect(outcomes.first?.isAlreadyOwned == false && outcomes.first?.orderNumber == order.number)
      await engine.shutdown()
    }
  }

  // MARK: Cancelled and deferred

  @Test func `B2 an order that was cancelled and paid all the same is fulfilled`() async throws {
    try await BuyingFixture.with { shop in
      let engine = try await shop.open()
      let order = try await engine.begin(product: "gems", account: "alice")
      try await engine.receive(.cancelled, for: order)
      try await shop.waitForBackend(order.number, .cancelled)
      // The person tries again, and both payments complete: two orders, two purchases.
      let second = try await engine.begin(product: "gems", account: "alice")
      #expect(second.number != order.number)
      try await engine.receive(try await shop.pay(second), for: second)
      try await engine.receive(try await shop.pay(order))
      #expect(try await shop.confirm(engine, order).verdict == .granted)
      #expect(try await shop.confirm(engine, second).verdict == .granted)
      #expect(try shop.server.snapshot().orders.allSatisfy { $0.state == .delivered })
      await engine.shutdown()
    }
  }

  @Test func `B7 a cancelled and a deferred order reach the backend, also after an outage and a restart`()
    async throws
  {
    try await BuyingFixture.with { shop in
      let engine = try await shop.open()
      let dismissed = try await engine.begin(product: "gems", account: "alice")
      let waiting = try await engine.begin(product: "pro", account: "alice")
      shop.server.setFaults(.outage(path: "/v1", requests: 10_000))
      try await engine.cancel(order: dismissed.number)
      try await engine.deferPayment(of: waiting.number)
      await engine.shutdown()
      shop.server.setFaults(.none)
      let again = try await shop.open()
      try await shop.waitForBackend(dismissed.number, .cancelled)
      try await shop.waitForBackend(waiting.number, .deferred)
      await again.shutdown()
    }
  }

  @Test func `B8 a pending purchase is hers although she has signed out before it is approved`() async throws
  {
    try await BuyingFixture.with { shop in
      let engine = try await shop.open()
      let order = try await engine.begin(product: "gems", account: "alice", context: "gift")
      try await engine.receive(.pending, for: order)
      shop.accounts.signOut("alice")
      let paid = try await shop.pay(order)
      try await engine.receive(paid)
      _ = try await snapshot(of: engine) { $0.lanes.first?.state == .signInNeeded }
      let his = try await engine.begin(product: "gems", account: "bob")
      #expect(his.number != order.number)
      shop.accounts.signIn("alice")
      try await engine.wake(.signedIn(account: "alice"))
      let outcome = try await shop.confirm(engine, order)
      #expect(outcome.lane == .account("alice") && outcome.verdict == .granted && outcome.context == "gift")
      #expect(try shop.server.snapshot().creditOwners == [.account("alice")])
      await engine.shutdown()
    }
  }

  // MARK: Never blocked

  @Test func `P3 any number of dismissed sheets leaves the next purchase possible`() async throws {
    try await BuyingFixture.with { shop in
      let engine = try await shop.open()
      for _ in 0..<100 { _ = try await engine.begin(product: "gems", account: "alice") }
      let order = try await engine.begin(product: "pro", account: "alice")
      try await engine.receive(try await shop.pay(order), for: order)
      #expect(try await shop.confirm(engine, order).verdict == .granted)
      await engine.shutdown()
    }
  }

  @Test func `P3 a payment that comes when its reservation has given way stays with the store until it fits`()
    async throws
  {
    try await BuyingFixture.with(.outage(path: "/v1/receipts", requests: 3)) { shop in
      var configuration = try shop.configuration()
      configuration.limits.entries = 2
      let engine = try await shop.open(configuration)
      var orders: [PurchaseOrder] = []
      for _ in 0..<4 { orders.append(try await engine.begin(product: "gems", account: "alice")) }
      for order in orders {
        let paid = try await shop.pay(order)
        do { try await engine.receive(paid, for: order) } catch {}
      }
      for order in orders { #expect(try await shop.confirm(engine, order).verdict == .granted) }
      await engine.shutdown()
    }
  }

  @Test func `P4 outcomes that are never confirmed leave the next purchase possible`() async throws {
    try await BuyingFixture.with { shop in
      var configuration = try shop.configuration()
      configuration.limits.entries = 8
      configuration.limits.unseenOutcomes = 10
      let engine = try await shop.open(configuration)
      for _ in 0..<20 {
        let order = try await engine.begin(product: "gems", account: "alice")
        try await engine.receive(try await shop.pay(order), for: order)
        try await shop.deliverAll(engine)
      }
      let state = try await engine.snapshot()
      #expect(state.outcomes.count == 10 && state.outcomesForgotten == 10)
      #expect(try shop.server.snapshot().credits.count == 20)
      await engine.shutdown()
    }
  }

  @Test func `an order of an earlier process is used again after an hour, and never within it`() async throws
  {
    try await BuyingFixture.with { shop in
      let engine = try await shop.open()
      let first = try await engine.begin(product: "gems", account: "alice", context: "before")
      shop.pass(hours: 2)
      let second = try await engine.begin(product: "gems", account: "alice")
      #expect(second.number != first.number, "its sheet may be open in this process")
      await engine.shutdown()
      let again = try await shop.open()
      #expect(try await again.begin(product: "gems", account: "bob").number != first.number)
      let reused = try await again.begin(product: "gems", account: "alice", context: "after")
      #expect(reused.number == first.number && reused.context == "after", "the second is not an hour old")
      let third = try await again.begin(product: "gems", account: "alice")
      #expect(![first.number, second.number].contains(third.number))
      await again.shutdown()
    }
  }
}

import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

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
    try await BuyingFixture.with(.outage(path: "/v1/receipts", requests: 1_000_000)) { shop in
      shop.server.withStore { $0.faults.repeatsTransactions = true }
      let engine = try await shop.open()
      let first = try await engine.begin(product: "gems", account: "alice")
      let paid = try await shop.pay(first)
      try await engine.receive(paid, for: first)
      let second = try await engine.begin(product: "gems", account: "alice")
      let returned = try await shop.pay(second)
      #expect(returned.key == paid.key && second.number != first.number)
      try await engine.receive(returned, for: second)
      #expect(try await engine.snapshot().purchases.count == 1, "its outcome closes both orders")
      shop.server.setFaults(.none)
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
      #expect(outcome.owner == .another)
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
    try await BuyingFixture.with(.outage(path: "/v1/receipts", requests: 1_000_000)) { shop in
      var configuration = try shop.configuration()
      configuration.limits.entries = 2
      let engine = try await shop.open(configuration)
      var orders: [PurchaseOrder] = []
      for _ in 0..<4 { orders.append(try await engine.begin(product: "gems", account: "alice")) }
      var refused = 0
      for order in orders {
        let paid = try await shop.pay(order)
        do { try await engine.receive(paid, for: order) } catch SyncError.queue(.queueFull) { refused += 1 }
      }
      #expect(refused == 2)
      shop.server.setFaults(.none)
      for order in orders { #expect(try await shop.confirm(engine, order).verdict == .granted) }
      await engine.shutdown()
    }
  }

  @Test func `P4 outcomes that are never confirmed leave the next purchase possible`() async throws {
    try await BuyingFixture.with { shop in
      var configuration = try shop.configuration()
      configuration.limits.entries = 8
      configuration.limits.unconfirmedOutcomes = 10
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

  @Test func `an order is used again within an hour of the last time that a process got it`() async throws {
    try await BuyingFixture.with { shop in
      var configuration = try shop.configuration()
      // The reservation of the next order displaces the one before.
      configuration.limits = QueueLimits(entries: 1)
      let earlier = try await shop.open(configuration)
      let first = try await earlier.begin(product: "gems", account: "alice")
      await earlier.shutdown()
      shop.pass(hours: 2)
      let app = try await shop.open(configuration)
      #expect(try await app.begin(product: "gems", account: "alice").number == first.number)
      _ = try await app.begin(product: "pro", account: "alice")
      await app.shutdown()
      shop.shift.withLock { $0 += 1_800_000 }
      let other = try await shop.open(configuration)
      let second = try await other.begin(product: "gems", account: "alice")
      #expect(second.number != first.number, "the sheet of the first may still be open")
      await other.shutdown()
    }
  }

  @Test func `a product that was settled a moment before the order closes the order`() async throws {
    try await BuyingFixture.with { shop in
      let engine = try await shop.open()
      // A code, redeemed in the App Store.
      let first = try await shop.store.pay(product: "pro", quantity: 1, accountToken: nil)
      try await engine.receive(first)
      try await shop.deliverAll(engine)
      let order = try await engine.begin(product: "pro", account: "alice")
      let returned = try await shop.pay(order)
      #expect(returned.transactionID == first.transactionID)
      try await engine.receive(.purchased(returned), for: order)
      let outcome = try await shop.confirm(engine, order)
      #expect(outcome.isAlreadyOwned && outcome.owner == .device && outcome.key == first.key)
      try await shop.waitForBackend(order.number, .cancelled)
      await engine.shutdown()
    }
  }

  @Test func `a device clock that is ahead does not turn a new payment into an owned product`() async throws {
    try await BuyingFixture.with { shop in
      var configuration = try shop.configuration()
      configuration.orderPolicy = .deviceOnly
      configuration.now = { Timestamp.wallClock().adding(milliseconds: 2 * 3_600_000) }
      let engine = try await shop.open(configuration)
      let order = try await engine.begin(product: "gems", account: "alice")
      try await until { try await engine.pendingNotices() == 0 }
      let known = try #require(try await shop.order(order.number, engine))
      #expect(known.createdAt < order.createdAt, "the backend's time counts")
      // Paid without the token, which the original API may lose.
      let paid = try await shop.store.pay(product: "gems", quantity: 1, accountToken: nil)
      try await engine.receive(.purchased(paid), for: order)
      #expect(try await !shop.confirm(engine, order).isAlreadyOwned)
      #expect(try shop.server.snapshot().creditOwners == [.account("alice")])
      await engine.shutdown()
    }
  }

  // MARK: Not open any more

  @Test func `an order of another device that was delivered neither stays open here nor is used again`()
    async throws
  {
    try await BuyingFixture.with { shop in
      let phone = try await shop.open()
      let pad = try await SyncEngine.open(
        try shop.configuration("pad"),
        store: MockStoreClient(server: shop.server, storeAccount: "other"),
        transport: shop.transport, credentials: { "token-" + $0.account })
      let order = try await phone.begin(product: "gems", account: "alice")
      try await pad.fetchOrders(of: "alice")
      #expect(try await shop.order(order.number, pad)?.state == .open)
      try await phone.receive(try await shop.pay(order), for: order)
      try await shop.confirm(phone, order)
      try await pad.fetchOrders(of: "alice")
      #expect(try await shop.order(order.number, pad)?.state == .delivered)
      shop.pass(hours: 2)
      let next = try await pad.begin(product: "gems", account: "alice")
      #expect(next.number != order.number)
      await phone.shutdown()
      await pad.shutdown()
    }
  }

  @Test func `an open order of another device is not used for a purchase on this one`() async throws {
    try await BuyingFixture.with { shop in
      let phone = try await shop.open()
      let order = try await phone.begin(product: "gems", account: "alice")
      let pad = try await shop.open(try shop.configuration("pad"))
      try await pad.fetchOrders(of: "alice")
      shop.pass(hours: 2)
      #expect(try await pad.begin(product: "gems", account: "alice").number != order.number)
      await phone.shutdown()
      await pad.shutdown()
    }
  }

  @Test func `a cancelled order is cancelled after a reinstall, and is not used again`() async throws {
    try await BuyingFixture.with { shop in
      let configuration = try shop.configuration(vault: DirectoryVault(directory: shop.directory + "/vault"))
      let engine = try await shop.open(configuration)
      let first = try await engine.begin(product: "gems", account: "alice")
      try await engine.cancel(order: first.number)
      try await shop.waitForBackend(first.number, .cancelled)
      let open = try await engine.begin(product: "pro", account: "alice")
      await engine.shutdown()
      for suffix in ["", "-wal", "-shm"]
      where FileManager.default.fileExists(atPath: configuration.path + suffix) {
        try FileManager.default.removeItem(atPath: configuration.path + suffix)
      }
      shop.pass(hours: 2)
      let again = try await shop.open(configuration)
      #expect(try await shop.order(first.number, again)?.state == .cancelled)
      let second = try await again.begin(product: "gems", account: "alice")
      #expect(second.number != first.number, "its payment may still complete: two payments, one order")
      #expect(try await shop.order(open.number, again)?.state == .open)
      #expect(try await again.begin(product: "pro", account: "alice").number != open.number)
      await again.shutdown()
    }
  }

  @Test func `an order whose answer was lost is not handed out after it has expired`() async throws {
    try await BuyingFixture.with { shop in
      shop.server.setOrderLifetime(.seconds(3_600))
      let isLost = Locked(true)
      let engine = try await shop.open(transport: Losing(inner: shop.transport, isLost: isLost))
      await #expect(throws: SyncError.self) { try await engine.begin(product: "gems", account: "alice") }
      isLost.withLock { $0 = false }
      shop.pass(hours: 3)
      let order = try await engine.begin(product: "gems", account: "alice")
      #expect(order.state == .open)
      #expect(try shop.server.snapshot().orders.count == 2)
      await engine.shutdown()
    }
  }
}

/// A transport whose answers are lost.
private struct Losing: BackendTransport {
  let inner: any BackendTransport
  let isLost: Locked<Bool>

  func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
    let answer = try await inner.send(request)
    if isLost.value { throw TransportError(reason: "the answer was lost") }
    return answer
  }
}

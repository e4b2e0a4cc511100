import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import PurchaseSyncTesting
import Testing

/// Where orders are made, what is kept of them, and for how long.
@Suite struct OrderPolicyTests {
  private func configuration(_ shop: BuyingFixture, _ policy: OrderPolicy) throws -> SyncConfiguration {
    var configuration = try shop.configuration()
    configuration.orderPolicy = policy
    return configuration
  }

  private let first = OrderPolicy.backendFirst(timeLimit: .seconds(3_000_000_000))

  // MARK: Made on the device

  @Test func `P15 a backend that is down sells all the same, to the account that buys`() async throws {
    try await BuyingFixture.with(.outage(path: "/v1/orders", requests: 10_000)) { shop in
      let engine = try await shop.open(try configuration(shop, first))
      let order = try await engine.begin(product: "gems", account: "alice", context: "paywall")
      try await engine.receive(try await shop.pay(order), for: order)
      let outcome = try await shop.confirm(engine, order)
      #expect(outcome.verdict == .granted && outcome.context == "paywall")
      let log = try shop.server.snapshot()
      #expect(log.creditOwners == [.account("alice")])
      #expect(log.orders.map(\.number) == [order.number] && log.orders.map(\.state) == [.delivered])
      await engine.shutdown()
    }
  }

  @Test func `a device's order is registered as soon as the backend is back, and twice changes nothing`()
    async throws
  {
    try await BuyingFixture.with { shop in
      let engine = try await shop.open(try configuration(shop, .deviceOnly))
      let order = try await engine.begin(product: "gems", account: "alice")
      try await shop.waitForBackend(order.number, .open)
      try await engine.cancel(order: order.number)
      try await shop.waitForBackend(order.number, .cancelled)
      try await engine.receive(try await shop.pay(order), for: order)
      #expect(try await shop.confirm(engine, order).verdict == .granted)
      #expect(try shop.server.snapshot().orders.count == 1)
      await engine.shutdown()
    }
  }

  @Test func `two payments of one device's order are two credits, and one of them fulfils it`() async throws {
    try await BuyingFixture.with(.outage(path: "/v1/orders", requests: 10_000)) { shop in
      let engine = try await shop.open(try configuration(shop, .deviceOnly))
      let order = try await engine.begin(product: "gems", account: "alice")
      try await engine.receive(try await shop.pay(order), for: order)
      try await engine.receive(try await shop.pay(order))
      try await shop.deliverAll(engine)
      let log = try shop.server.snapshot()
      #expect(log.credits.count == 2 && log.doubledCredits == 0)
      #expect(log.credits.map(\.orderNumber) == [order.number, nil])
      #expect(log.creditOwners == [.account("alice"), .account("alice")])
      await engine.shutdown()
    }
  }

  @Test func `a backend that refuses is obeyed, and none makes an order where policy says so`() async throws {
    try await BuyingFixture.with { shop in
      let engine = try await shop.open(try configuration(shop, first))
      await #expect(throws: SyncError.backendRefused(status: 422, reason: "an order was not made")) {
        try await engine.begin(product: "none", account: "alice")
      }
      shop.accounts.signOut("alice")
      await #expect(throws: SyncError.signInNeeded(account: "alice")) {
        try await engine.begin(product: "gems", account: "alice")
      }
      #expect(try await engine.orders().isEmpty)
      await engine.shutdown()
      shop.server.setFaults(.outage(path: "/v1", requests: 10_000))
      let strict = try await shop.open(try configuration(shop, .backendOnly))
      await #expect(throws: SyncError.self) { try await strict.begin(product: "gems", account: "bob") }
      await strict.shutdown()
    }
  }

  // MARK: Requests

  @Test func `P7 after a final refusal the next order has another key, after a lost answer the same`()
    async throws
  {
    try await BuyingFixture.with { shop in
      let statuses = Locked([422, 422, 503, 429])
      let transport = RecordingTransport(shop.transport) { request in
        guard request.path == "v1/orders" else { return nil }
        guard let status = statuses.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return nil }
        let problem = #"{"type":"invalid","title":"not now","status":\#(status)}"#
        return BackendResponse(
          status: status, contentType: "application/problem+json", body: Data(problem.utf8))
      }
      let engine = try await shop.open(transport: transport)
      for _ in 0..<4 {
        await #expect(throws: SyncError.self) { try await engine.begin(product: "gems", account: "alice") }
      }
      _ = try await engine.begin(product: "gems", account: "alice")
      let keys = transport.seen.value.compactMap { $0.headers["Idempotency-Key"] }
      #expect(keys.count == 5 && Set(keys.prefix(3)).count == 3 && Set(keys.suffix(3)).count == 1)
      await engine.shutdown()
    }
  }

  @Test func `orders are fetched page by page`() async throws {
    try await BuyingFixture.with { shop in
      let phone = try await shop.open()
      for _ in 0..<130 { _ = try await phone.begin(product: "gems", account: "alice") }
      await phone.shutdown()
      let pad = try await shop.open(try shop.configuration("pad"))
      try await pad.fetchOrders(of: "alice")
      #expect(try await pad.orders().count == 130)
      #expect(try shop.server.snapshot().requests["GET /v1/orders"] == 2)
      await pad.shutdown()
    }
  }

  // MARK: What is kept

  @Test func `P5 two years later few unpaid orders are left, and an opening reads none of them`() async throws
  {
    try await BuyingFixture.with { shop in
      shop.server.setOrderLifetime(.seconds(3_600))
      let vault = CountingVault(shop.directory + "/vault")
      let configuration = try shop.configuration(vault: vault)
      let engine = try await shop.open(configuration)
      for number in 0..<120 {
        let order = try await engine.begin(product: "gems", account: "alice")
        if number % 2 == 0 { try await engine.cancel(order: order.number) }
        shop.pass(hours: 2)
      }
      let kept = try await shop.buy("gems", engine).order
      await engine.shutdown()
      vault.reads.withLock { $0 = 0 }
      let same = try await shop.open(configuration)
      #expect(vault.reads.value < 5)
      await same.shutdown()
      shop.pass(hours: 2 * 365 * 24)
      let second = try await shop.open(configuration)
      try await until { try await second.orders().count <= 21 }
      #expect(try await second.orders().contains { $0.number == kept.number })
      #expect(try vault.list().filter { $0.hasPrefix("order.") }.count <= 20)
      await second.shutdown()
    }
  }

  @Test func `B9 the context of a deferred order survives a reinstall, and is in no log and no request`()
    async throws
  {
    try await BuyingFixture.with { shop in
      let vault = DirectoryVault(directory: shop.directory + "/vault")
      let transport = RecordingTransport(shop.transport)
      let lines = Locked<[String]>([])
      var configuration = try shop.configuration(vault: vault)
      configuration.log = { line in lines.withLock { $0.append("\(line)") } }
      let engine = try await shop.open(configuration, transport: transport)
      let order = try await engine.begin(product: "gems", account: "alice", context: "paywall-secret")
      try await engine.receive(.pending, for: order)
      await engine.shutdown()
      var fresh = try shop.configuration("reinstalled", vault: vault)
      fresh.log = configuration.log
      let again = try await shop.open(fresh, transport: transport)
      try await again.receive(try await shop.pay(order))
      let outcome = try await shop.confirm(again, order)
      #expect(outcome.context?.text == "paywall-secret" && outcome.verdict == .granted)
      #expect(!"\(outcome) \(order)".contains("paywall-secret"))
      #expect(!lines.value.contains { $0.contains("paywall-secret") })
      #expect(!transport.seen.value.contains { String(decoding: $0.body, as: UTF8.self).contains("paywall") })
      await again.shutdown()
    }
  }

  @Test func `a context that is too long is refused before anything happens`() async throws {
    try await BuyingFixture.with { shop in
      let engine = try await shop.open()
      let long = PurchaseContext(String(repeating: "ä", count: 513))
      await #expect(throws: SyncError.self) {
        try await engine.begin(product: "gems", account: "alice", context: long)
      }
      let most = PurchaseContext(String(repeating: "ä", count: 512))
      #expect(try await engine.begin(product: "gems", account: "alice", context: most).context == most)
      #expect(try shop.server.snapshot().requests["POST /v1/orders"] == 1)
      await engine.shutdown()
    }
  }

  @Test func `a device's order survives a reinstall, and its purchase is granted`() async throws {
    try await BuyingFixture.with(.outage(path: "/v1/orders", requests: 10_000)) { shop in
      let vault = DirectoryVault(directory: shop.directory + "/vault")
      var configuration = try shop.configuration(vault: vault)
      configuration.orderPolicy = .deviceOnly
      let engine = try await shop.open(configuration)
      let order = try await engine.begin(product: "gems", account: "alice")
      await engine.shutdown()
      let again = try await shop.open(try shop.configuration("reinstalled", vault: vault))
      try await again.receive(try await shop.pay(order))
      #expect(try await shop.confirm(again, order).verdict == .granted)
      #expect(try shop.server.snapshot().orders.map(\.number) == [order.number])
      await again.shutdown()
    }
  }
}

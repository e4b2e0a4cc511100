import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// What an app is promised about its `fulfil`.
@Suite struct ShopFulfilmentTests {
  /// An app that notes how many of its `fulfil` run at once.
  private final class Counter: Sendable {
    private let state = Locked((running: 0, most: 0, given: [Outcome]()))
    let gate = Gate()
    var most: Int { state.value.most }
    var given: [Outcome] { state.value.given }

    func take(_ outcome: Outcome) async {
      state.withLock {
        $0.running += 1
        $0.most = max($0.most, $0.running)
        $0.given.append(outcome)
      }
      await gate.pass()
      state.withLock { $0.running -= 1 }
    }
  }

  private func shop(
    _ fixture: BuyingFixture, system: SystemDependencies = .live,
    fulfil: @escaping Shop.Fulfilment
  ) throws -> Shop {
    var configuration = try fixture.configuration()
    configuration.system = system
    // On a busy machine no `fulfil` is late.
    configuration.fulfilmentTimeLimit = .seconds(86_400)
    let accounts = fixture.accounts
    return Shop(
      store: fixture.store, backend: .transport(fixture.transport), configuration: configuration,
      hooks: SystemHooks(),
      waiting: .zero, credentials: { accounts.token(of: $0.account) }, fulfil: fulfil)
  }

  /// Each pause ends at once, and is looked at again until the clock says that it is over.
  private var hasty: SystemDependencies {
    var system = SystemDependencies.live
    system.sleep = { _ in
      try Task.checkCancellation()
      await Task.yield()
    }
    let start = ContinuousClock.now
    // The clock runs as much faster.
    system.uptime = { start.advanced(by: start.duration(to: .now) * 1_000) }
    return system
  }

  @Test func `two outcomes are fulfilled one at a time, also while the app tries everything again`()
    async throws
  {
    try await BuyingFixture.with { fixture in
      let counter = Counter()
      counter.gate.close()
      let shop = try shop(fixture) { await counter.take($0) }
      _ = try await shop.purchase("gems", for: "alice")
      _ = try await shop.purchase("gems", for: "alice")
      try await until { counter.gate.arrivals == 1 }
      let engine = try await shop.syncEngine()
      _ = try await snapshot(of: engine) { $0.outcomes.count == 2 }
      for _ in 1...3 { try await shop.retryNow() }
      counter.gate.open()
      try await until { counter.given.count == 2 }
      _ = try await snapshot(of: engine) { $0.outcomes.isEmpty }
      #expect(counter.most == 1)
      #expect(Set(counter.given.map(\.name)).count == 2)
      await shop.close()
    }
  }

  @Test func `a refund that comes while its credit is under way is given next`() async throws {
    try await BuyingFixture.with { fixture in
      let counter = Counter()
      counter.gate.close()
      let shop = try shop(fixture) { await counter.take($0) }
      _ = try await shop.purchase("gems", for: "alice")
      try await until { counter.gate.arrivals == 1 }
      // A finish that is under way would take the refund off the store's list.
      try await until { fixture.server.withStore { $0.unfinished(storeAccount: "apple-id").isEmpty } }
      try fixture.server.withStore { (store) throws(StoreModelError) in
        _ = try store.refund(
          transactionID: store.transactions.first?.transactionID ?? "none", now: .wallClock())
      }
      let engine = try await shop.syncEngine()
      try await until {
        try await shop.resume()
        return try await engine.snapshot().outcomes.contains { $0.verdict == .refunded }
      }
      counter.gate.open()
      try await until { counter.given.map(\.verdict) == [.granted, .refunded] }
      _ = try await snapshot(of: engine) { $0.outcomes.isEmpty }
      await shop.close()
    }
  }

  @Test func `a credit that fails is tried again without a call of the app`() async throws {
    try await BuyingFixture.with { fixture in
      let (wallet, attempts) = (Wallet(), Locked(0))
      let shop = try shop(fixture, system: hasty) { outcome in
        attempts.withLock { $0 += 1 }
        guard attempts.value > 3 else { throw Wallet.Failure() }
        try wallet.take(outcome)
      }
      _ = try await shop.purchase("gems", for: "alice")
      try await until { wallet.products == ["gems"] }
      #expect(attempts.value == 4)
      await shop.close()
    }
  }

  @Test func `a task in the background delivers several purchases, not only the first`() async throws {
    try await BuyingFixture.with(.outage(path: "/v1/receipts", requests: 1_000_000)) { fixture in
      let wallet = Wallet()
      let shop = try shop(fixture) { try wallet.take($0) }
      #expect(try await shop.purchase("gems", for: "alice") == .pending(.delivery))
      #expect(try await shop.purchase("gems", for: "bob") == .pending(.delivery))
      await shop.suspend()
      #expect(wallet.products.isEmpty)
      fixture.server.setFaults(.none)
      try await shop.drain(until: Date().addingTimeInterval(3_600))
      #expect(wallet.products == ["gems", "gems"])
      let engine = try await shop.syncEngine()
      #expect(await !engine.isFileOpen)
      await shop.close()
    }
  }

  @Test func `a call in the background leaves the file closed`() async throws {
    try await BuyingFixture.with { fixture in
      let shop = try shop(fixture) { _ in }
      let engine = try await shop.syncEngine()
      await shop.suspend()
      try await shop.retryNow()
      #expect(await !engine.isFileOpen)
      try await shop.signedIn(as: "bob")
      #expect(await !engine.isFileOpen)
      await shop.close()
    }
  }

  private enum Call: CaseIterable { case restore, drain, purchase, close, visits }

  @Test(arguments: Call.allCases)
  private func `a call from within fulfil does not wait for that fulfil`(call: Call) async throws {
    try await BuyingFixture.with { fixture in
      let (calling, calls, accounts) = (Locked<Shop?>(nil), Locked(0), fixture.accounts)
      let shop = Shop(
        store: fixture.store, backend: .transport(fixture.transport),
        configuration: try fixture.configuration(),
        hooks: SystemHooks(), waiting: .seconds(3_000_000_000),
        credentials: { accounts.token(of: $0.account) },
        fulfil: { _ in
          guard let shop = calling.value,
            calls.withLock({
              $0 += 1; return $0 == 1
            })
          else { return }
          switch call {
          case .restore: try await shop.restore(for: "alice")
          case .drain: try await shop.drain(until: .distantFuture)
          case .purchase: _ = try await shop.purchase("gems", for: "alice")
          case .close: await shop.close()
          case .visits:
            await shop.suspend()
            try await shop.resume()
          }
          calls.withLock { $0 += 100 }
        })
      calling.withLock { $0 = shop }
      _ = try await shop.purchase("gems", for: "alice")
      try await until { calls.value > 100 }
      calling.withLock { $0 = nil }
      await shop.close()
    }
  }

  @Test func `a shop that is closed waits for its fulfil, so that the next shop does not give it too`()
    async throws
  {
    try await BuyingFixture.with { fixture in
      let counter = Counter()
      counter.gate.close()
      // The time of a closing shop does not pass, so that a busy machine does not end its wait.
      var system = SystemDependencies.live
      let moment = ContinuousClock.now
      system.uptime = { moment }
      let first = try shop(fixture, system: system) { await counter.take($0) }
      _ = try await first.purchase("gems", for: "alice")
      try await until { counter.gate.arrivals == 1 }
      async let closing: Void = first.close()
      try await until { await first.isClosed }
      counter.gate.open()
      await closing
      let second = try shop(fixture) { await counter.take($0) }
      let engine = try await second.syncEngine()
      _ = try await snapshot(of: engine) { $0.outcomes.isEmpty }
      #expect(counter.given.count == 1)
      await second.close()
    }
  }

  @Test func `the status names the error of a fulfil, and does not quote it`() async throws {
    struct Loud: Error, CustomStringConvertible { let description = "GET /credit?token=secret-token" }
    try await BuyingFixture.with { fixture in
      let shop = try shop(fixture) { _ in throw Loud() }
      _ = try await shop.purchase("gems", for: "alice")
      let status = await firstStatus(of: shop) { $0.fulfilmentProblem != nil }
      #expect(status.fulfilmentProblem?.contains("Loud") == true)
      #expect(status.fulfilmentProblem?.contains("secret") == false)
      await shop.close()
    }
  }

  @Test func `what was refunded is not shown as delivered`() async throws {
    try await BuyingFixture.withShop { fixture, shop, wallet in
      _ = try await shop.purchase("pro", for: "alice")
      try fixture.server.withStore { (store) throws(StoreModelError) in
        _ = try store.refund(
          transactionID: store.transactions.first?.transactionID ?? "none", now: .wallClock())
      }
      try await shop.restore(for: "alice")
      let status = await firstStatus(of: shop) { $0.purchases.contains { $0.stage == .refunded } }
      #expect(status.purchases.map(\.stage) == [.refunded])
    }
  }

  @Test func `an outcome whose request is in flight at the suspension is delivered in its grace`()
    async throws
  {
    try await BuyingFixture.with { fixture in
      let (wallet, gate, accounts) = (Wallet(), Gate(), fixture.accounts)
      gate.close()
      let shop = Shop(
        store: fixture.store, backend: .transport(GatedTransport(inner: fixture.transport, gate: gate)),
        configuration: try fixture.configuration(), hooks: SystemHooks(), waiting: .zero,
        credentials: { accounts.token(of: $0.account) }, fulfil: { try wallet.take($0) })
      _ = try await shop.purchase("gems", for: "alice")
      _ = try await shop.purchase("gems", for: "bob")
      try await until { gate.arrivals == 2 }
      async let suspension: Void = shop.suspend()
      try await until { await shop.isSuspended }
      gate.open()
      await suspension
      #expect(wallet.products == ["gems", "gems"])
      let engine = try await shop.syncEngine()
      #expect(await !engine.isFileOpen)
      await shop.close()
    }
  }
}

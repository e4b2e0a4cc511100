import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// What a shop learns of the system around the app.
@Suite struct ShopSystemTests {
  @Test func `the system's notifications close the file in the background, and the return opens it`()
    async throws
  {
    try await BuyingFixture.with { fixture in
      let (center, wallet) = (NotificationCenter(), Wallet())
      let shop = try fixture.shop(
        wallet, hooks: SystemHooks(notifications: center))
      #expect(try await shop.purchase("gems", for: "alice").isFulfilled)
      let engine = try await shop.syncEngine()
      try await until {
        for name in ForegroundChanges.background { center.post(name: name, object: nil) }
        return await !engine.isFileOpen
      }
      try await until {
        center.post(name: ForegroundChanges.foreground[0], object: nil)
        return await !shop.isSuspended
      }
      #expect(try await shop.purchase("gems", for: "alice").isFulfilled)
      await shop.close()
    }
  }

  @Test func `what waits is sent when the network is back, and not at the end of its backoff`() async throws {
    try await BuyingFixture.with(.outage(path: "/v1/receipts", requests: 1_000_000)) { fixture in
      let (wallet, tell, hasStopped) = (Wallet(), Locked<(@Sendable (String?) -> Void)?>(nil), Locked(false))
      var configuration = try fixture.configuration()
      // Without a return of the network the test would wait for hours.
      configuration.retry = RetryPolicy()
      let shop = try fixture.shop(
        wallet, configuration: configuration, waiting: .zero,
        hooks: SystemHooks(network: { changed in
          tell.withLock { $0 = changed }
          return { hasStopped.withLock { $0 = true } }
        }))
      #expect(try await shop.purchase("gems", for: "alice") == .pending(.delivery))
      let engine = try await shop.syncEngine()
      _ = try await snapshot(of: engine) { $0.purchases.first.map { $0.attempts > 0 } ?? false }
      fixture.server.setFaults(.none)
      let changed = try #require(tell.value)
      changed("en0")
      try await until {
        changed(nil)
        changed("pdp_ip0")
        return wallet.products == ["gems"]
      }
      await shop.close()
      try await until { hasStopped.value }
    }
  }

  @Test func `a system whose time is over ends what is in flight, and loses nothing`() async throws {
    try await BuyingFixture.with { fixture in
      let (wallet, gate) = (Wallet(), Gate())
      gate.close()
      var configuration = try fixture.configuration()
      // The engine's own time for requests in flight is never over, so only the system's word ends them.
      configuration.system.patience = { milliseconds in
        let pause: Duration = milliseconds > 0 ? .seconds(365 * 86_400) : .zero
        try await Task.sleep(for: pause)
      }
      let shop = try fixture.shop(
        wallet, configuration: configuration,
        transport: GatedTransport(inner: fixture.transport, gate: gate, ignoresCancellation: false),
        waiting: .zero,
        hooks: SystemHooks(
          backgroundTime: BackgroundTime { _, block in
            // No time at all: the system says so at once.
            Task.detached { block(true) }
          }))
      #expect(try await shop.purchase("gems", for: "alice") == .pending(.delivery))
      try await until { gate.arrivals > 0 }
      await shop.suspend()
      let engine = try await shop.syncEngine()
      #expect(await !engine.isFileOpen)
      gate.open()
      try await shop.resume()
      try await until { wallet.products == ["gems"] }
      await shop.close()
    }
  }

  @Test func `a background task delivers, and leaves the file closed`() async throws {
    try await BuyingFixture.with(.outage(path: "/v1/receipts", requests: 1_000_000)) { fixture in
      let wallet = Wallet()
      let killed = try fixture.shop(wallet, waiting: .zero)
      _ = try await killed.purchase("gems", for: "alice")
      await killed.close()
      fixture.server.setFaults(.none)
      let shop = try fixture.shop(wallet)
      try await until {
        try await shop.drain(until: Date().addingTimeInterval(20))
        return wallet.products == ["gems"]
      }
      let engine = try await shop.syncEngine()
      #expect(await !engine.isFileOpen)
      await shop.close()
    }
  }

  @Test func `a quick return to the app does not wait for the end of the visit`() async throws {
    try await BuyingFixture.with { fixture in
      let (center, gate, wallet) = (NotificationCenter(), Gate(), Wallet())
      gate.close()
      let shop = try fixture.shop(
        wallet, transport: GatedTransport(inner: fixture.transport, gate: gate), waiting: .zero,
        hooks: SystemHooks(notifications: center))
      _ = try await shop.purchase("gems", for: "alice")
      try await until { gate.arrivals == 1 }
      try await until {
        center.post(name: ForegroundChanges.background[0], object: nil)
        return await shop.isSuspended
      }
      // The request is still in flight: it is spared.
      try await until {
        center.post(name: ForegroundChanges.foreground[0], object: nil)
        return await !shop.isSuspended
      }
      gate.open()
      try await until { wallet.products == ["gems"] }
      #expect(gate.arrivals == 1)
      await shop.close()
    }
  }

  @Test func `a short task in the background does not end a long one`() async throws {
    try await BuyingFixture.with { fixture in
      let (wallet, gate) = (Wallet(), Gate())
      let transport = GatedTransport(inner: fixture.transport, gate: gate)
      let shop = try fixture.shop(wallet, transport: transport, waiting: .zero)
      gate.close()
      _ = try await shop.purchase("gems", for: "alice")
      async let long = shop.drain(until: Date().addingTimeInterval(3_000))
      try await until { await shop.isDraining && gate.arrivals > 0 }
      let isDone = try await shop.drain(until: Date())
      #expect(!isDone)
      gate.open()
      #expect(try await long)
      #expect(wallet.products == ["gems"])
      await shop.close()
    }
  }

  @Test func `in front, a drain that returns while requests are under way or due is no drain`() async throws {
    try await ShopLab.launch { lab, app in
      lab.server.setFaults(.outage(path: "/v1/receipts", requests: 3))
      let book = OutcomeBook()
      let shop = app.shop(waiting: .zero) { book.take($0) }
      try await shop.resume()
      _ = try await shop.purchase(ShopLab.gems, for: "alice")
      let isDone = try await shop.drain(until: app.now.addingTimeInterval(1_800))
      #expect(isDone)
      #expect(book.products == [ShopLab.gems])
      #expect(await !shop.isSuspended)
    }
  }

  @Test func `a restore and a refused purchase leave the file closed in the background`() async throws {
    try await BuyingFixture.with(.outage(path: "/v1/orders", requests: 1_000_000)) { fixture in
      let shop = try fixture.shop(Wallet())
      let engine = try await shop.syncEngine()
      await shop.suspend()
      try await shop.restore(for: "alice")
      #expect(await !engine.isFileOpen)
      let sale = try await shop.purchase("gems", for: "alice")
      guard case .refused = sale else { throw Unexpected(sale: sale) }
      #expect(await !engine.isFileOpen)
      await shop.close()
    }
  }

  @Test func `a foreground that came before the file could be opened counts when it can`() async throws {
    try await BuyingFixture.with { fixture in
      let (configuration, wallet) = (try fixture.configuration(), Wallet())
      try Data("a diary".utf8).write(to: URL(fileURLWithPath: configuration.path))
      let shop = try fixture.shop(wallet, configuration: configuration)
      await #expect(throws: SyncError.self) { try await shop.resume() }
      try FileManager.default.removeItem(atPath: configuration.path)
      _ = try await shop.syncEngine()
      try await shop.drain(until: Date().addingTimeInterval(3_000))
      let sale = try await shop.purchase("gems", for: "alice")
      #expect(sale.isFulfilled)
      await shop.close()
    }
  }
}

import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Callbacks that call the shop, and backends and stores that never say the same twice: nothing runs without a pace.
@Suite struct ShopPaceTests {
  private enum Call: CaseIterable, Sendable { case signedIn, retryNow, resume }

  /// The app's wallet is a server. Before it gives up, `fulfil` tells the shop who is signed in, or that it may try again.
  @Test(arguments: Call.allCases, [false, true])
  private func `a fulfil that fails is tried again after pauses, though it calls the shop`(
    call: Call, isDetached: Bool
  ) async throws {
    try await ShopLab.launch { lab, app in
      let (count, holder) = (Locked(0), Locked<Shop?>(nil))
      let shop = app.shop(waiting: .zero) { _ in
        count.withLock { $0 += 1 }
        try await app.sleep(50)
        let act: @Sendable () async throws -> Void = {
          switch call {
          case .signedIn: try await holder.value?.signedIn(as: "alice")
          case .retryNow: try await holder.value?.retryNow()
          case .resume: try await holder.value?.resume()
          }
        }
        if isDetached { try await Task.detached { try await act() }.value } else { try await act() }
        throw URLError(.badServerResponse)
      }
      holder.withLock { $0 = shop }
      for product in [ShopLab.gems, ShopLab.coins] { _ = try await shop.purchase(product, for: "alice") }
      try await lab.pass(.seconds(60))
      // 1 + 2 + 4 + … s: six calls for each outcome. A call from elsewhere counts as a person's.
      let asked = isDetached ? CallPace.fulfilmentRetries.most(within: 60_000) : 0
      #expect(count.value <= 2 * (7 + asked))
      await shop.close()
    }
  }

  @Test func `a shop that is made in front of the person goes on after a background task`() async throws {
    try await BuyingFixture.with(.outage(path: "/v1/receipts", requests: 1_000_000)) { fixture in
      // The app became active before the shop was made: a shop behind a "Store" button.
      let wallet = Wallet()
      let surroundings = Surroundings(notifications: NotificationCenter())
      let shop = try fixture.shop(wallet, waiting: .zero, surroundings: surroundings)
      let engine = try await shop.syncEngine()
      try await shop.drain(until: Date().addingTimeInterval(5))
      #expect(await !shop.isSuspended)
      #expect(await !engine.isFileOpen)
      _ = try await shop.purchase("gems", for: "alice")
      try await shop.drain(until: Date().addingTimeInterval(5))
      #expect(await engine.isFileOpen)
      fixture.server.setFaults(.none)
      try await shop.retryNow()
      try await until { wallet.products == ["gems"] }
      await shop.close()
    }
  }

  @Test func `a call in the background leaves the file open for the background task that works`() async throws
  {
    try await BuyingFixture.with { fixture in
      let (wallet, gate) = (Wallet(), Gate())
      let transport = GatedTransport(inner: fixture.transport, gate: gate)
      let shop = try fixture.shop(wallet, transport: transport, waiting: .zero)
      gate.close()
      _ = try await shop.purchase("gems", for: "alice")
      await shop.suspend()
      async let long = shop.drain(until: Date().addingTimeInterval(3_000))
      try await until { await shop.isDraining }
      let engine = try await shop.syncEngine()
      try await until { await engine.isFileOpen }
      try await shop.retryNow()
      #expect(await engine.isFileOpen)
      gate.open()
      #expect(try await long)
      #expect(wallet.products == ["gems"])
      #expect(await !engine.isFileOpen)
      await shop.close()
    }
  }

  @Test func `a confirmation in the background closes the file that it has opened`() async throws {
    try await ShopLab.launch { lab, app in
      let shop = app.shop(waiting: .zero) { _ in try await app.sleep(60_000) }
      _ = try await shop.purchase(ShopLab.gems, for: "alice")
      try await lab.pass(.seconds(5))
      let engine = try await shop.syncEngine()
      await shop.suspend()
      #expect(await !engine.isFileOpen)
      try await lab.pass(.seconds(120))
      #expect(await !engine.isFileOpen)
      try await shop.resume()
      #expect(try await engine.snapshot().outcomes.isEmpty)
      await shop.close()
    }
  }
}

import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// A backend that answers anything for a while, and two shops on one file. Nothing that it said settles a purchase, so
/// that all of them are delivered once it is well again.
@Suite struct ReplyWalkTests {
  @Test(arguments: Dice.seeds)
  func `after any answers every purchase is delivered`(seed: UInt64) async throws {
    try await ShopLab.launch(seed: seed) { lab, app in
      var walk = Walk(lab: lab, app: app, seed: seed)
      try await walk.begin()
      for _ in 0..<50 { try await walk.step() }
      try await walk.end()
    }
  }

  private struct Walk {
    static let accounts = ["alice", "bob", "\u{e9}", "a\u{0}b", "x/y:z", "device"]
    let lab: AppLab
    let app: LabApp
    let dice: Dice
    let isHostile = Locked(true)
    let tasks = WalkTasks()
    let configuration: SyncConfiguration
    let transport: OddBackend
    var shops: [Shop] = []

    init(lab: AppLab, app: LabApp, seed: UInt64) {
      (self.lab, self.app, dice) = (lab, app, Dice(seed &+ 5))
      transport = OddBackend(inner: app.backend, dice: Dice(seed &+ 9), isHostile: isHostile)
      var configuration = app.configuration
      configuration.orderPolicy = dice.one(of: [
        .backendOnly, .deviceOnly, .backendFirst(timeLimit: .seconds(2)),
      ])
      self.configuration = configuration
      shops = [shop(), shop()]
    }

    private func shop() -> Shop {
      app.shop(
        store: MoodyStore(inner: app.store, sleep: app.sleep), backend: transport, waiting: .seconds(2),
        configuration: configuration
      ) { _ in }
    }

    /// The backend may refuse each order of a walk. This one it makes before it turns hostile, so that each seed has a
    /// charge.
    func begin() async throws {
      isHostile.withLock { $0 = false }
      _ = try await shops[0].purchase(ShopLab.gems, for: "alice") { [isHostile, app] order in
        isHostile.withLock { $0 = true }
        return try await app.store.purchase(order)
      }
    }

    mutating func step() async throws {
      let number = dice.pick(2)
      let (shop, account) = (shops[number], dice.one(of: Self.accounts))
      switch dice.pick(12) {
      case 0, 1, 2, 3:
        let product = dice.one(of: [ShopLab.gems, ShopLab.coins])
        tasks.begin { _ = try await shop.purchase(product, for: account, context: "c") }
      case 4: try await lab.pass(.seconds(dice.pick(4_000)))
      case 5: tasks.begin { try await shop.signedIn(as: account) }
      case 6: tasks.begin { try await shop.syncEngine().fetchOrders(of: account) }
      case 7: tasks.begin { try await shop.syncEngine().adoptDevicePurchases(for: account) }
      case 8: tasks.begin { _ = try await shop.restore(for: account) }
      case 9:
        await shop.suspend()
        await tasks.run { try await shop.resume() }
      case 10:
        await shop.close()
        shops[number] = self.shop()
      default: try await lab.pass(.milliseconds(dice.pick(500)))
      }
    }

    func end() async throws {
      isHostile.withLock { $0 = false }
      for shop in shops { try await shop.resume() }
      for _ in 0..<8 {
        try await lab.pass(.seconds(86_400))
        for shop in shops { try await shop.retryNow() }
      }
      let seen = try lab.server.snapshot()
      let rest = try await shops[0].syncEngine().snapshot()
      #expect(
        !seen.charges.contains { !$0.isFinished },
        "\(rest.purchases.map { "\($0.lane) \($0.problem ?? "-")" })")
      #expect(!seen.charges.isEmpty)
      #expect(seen.charges.count == seen.credits.count)
      #expect(seen.doubledCredits == 0)
      #expect(rest.deviceAdoptions.isEmpty)
      for shop in shops { await shop.close() }
      await tasks.wait()
    }
  }
}

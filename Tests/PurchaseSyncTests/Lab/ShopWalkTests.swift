import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Random calls of a shop, in an order that no one would write down. At the end all is well again, and every purchase
/// is credited once, fulfilled and finished.
@Suite struct ShopWalkTests {
  @Test(arguments: Dice.seeds)
  func `after any calls every purchase is fulfilled, and the file is closed in the background`(seed: UInt64)
    async throws
  {
    try await ShopLab.launch(seed: seed) { lab, app in
      var walk = Walk(lab: lab, app: app, seed: seed)
      for _ in 0..<60 { try await walk.step() }
      try await walk.end()
    }
  }

  /// How the app's `fulfil` behaves, and what it got.
  private struct Fulfilling {
    var isSlow = false
    var fails = false
    var running: [Int: Int] = [:]
    var most = 0
    var given: [Outcome] = []
  }

  private struct Walk {
    let lab: AppLab
    let app: LabApp
    let dice: Dice
    let store: MoodyStore
    let fulfilling = Locked(Fulfilling())
    let purchases = Locked((begun: 0, returned: 0))
    let tasks = WalkTasks()
    let readers = WalkTasks()
    var shops = 0
    var shop: Shop

    init(lab: AppLab, app: LabApp, seed: UInt64) {
      (self.lab, self.app, dice) = (lab, app, Dice(seed &+ 77))
      store = MoodyStore(inner: app.store, sleep: app.sleep)
      shop = Self.shop(0, app, store, fulfilling)
    }

    private static func shop(_ number: Int, _ app: LabApp, _ store: MoodyStore, _ state: Locked<Fulfilling>)
      -> Shop
    {
      let sleep = app.sleep
      return app.shop(store: store) { outcome in
        state.withLock { state in
          state.running[number, default: 0] += 1
          state.most = max(state.most, state.running[number] ?? 0)
        }
        defer { state.withLock { $0.running[number, default: 0] -= 1 } }
        if state.value.isSlow { try await sleep(3_000) }
        if state.value.fails { throw URLError(.badURL) }
        state.withLock { $0.given.append(outcome) }
      }
    }

    mutating func step() async throws {
      let shop = self.shop
      switch dice.pick(16) {
      case 0, 1, 2: try await buy()
      case 3: tasks.cancelOne(dice)
      case 4: await shop.suspend()
      case 5: await tasks.run { try await shop.resume() }
      case 6:
        let until = app.now.addingTimeInterval(Double(dice.pick(10)))
        tasks.begin { _ = try await shop.drain(until: until) }
      case 7: tasks.begin { try await shop.retryNow() }
      case 8:
        let account = dice.one(of: ["alice", "bob", nil])
        tasks.begin { try await shop.signedIn(as: account) }
      case 9:
        let (isSlow, fails) = dice.one(of: [(false, false), (false, true), (true, false), (false, false)])
        fulfilling.withLock { ($0.isSlow, $0.fails) = (isSlow, fails) }
      case 10: lab.server.setFaults(dice.pick(2) == 0 ? .none : .outage(path: "/v1/receipts", requests: 5))
      case 11: lab.phone().setOffline(dice.pick(3) == 0)
      case 12: try await lab.pass(.seconds(dice.pick(600)))
      case 13: readers.begin { for await _ in await shop.statuses() {} }
      case 14:
        await shop.close()
        shops += 1
        self.shop = Self.shop(shops, app, store, fulfilling)
      default:
        let account = dice.one(of: ["alice", "bob"])
        tasks.begin { _ = try await shop.restore(for: account) }
      }
    }

    private func buy() async throws {
      let sheet = dice.one(of: MoodyStore.Sheet.allCases + [.pays, .pays])
      store.sheet.withLock { $0 = sheet }
      let (shop, purchases) = (self.shop, self.purchases)
      let (account, product) = (dice.one(of: ["alice", "bob"]), dice.one(of: [ShopLab.gems, ShopLab.coins]))
      purchases.withLock { $0.begun += 1 }
      tasks.begin {
        defer { purchases.withLock { $0.returned += 1 } }
        _ = try await shop.purchase(product, for: account)
      }
      if dice.pick(3) > 0 { try await lab.pass(.milliseconds(dice.pick(300))) }
    }

    func end() async throws {
      await shop.suspend()
      try await lab.pass(.seconds(3_700))
      if let engine = await shop.engine { #expect(await !engine.isFileOpen) }
      // All is well again.
      fulfilling.withLock { ($0.isSlow, $0.fails) = (false, false) }
      lab.server.setFaults(.none)
      lab.phone().setOffline(false)
      try await shop.resume()
      try await lab.pass(.seconds(2 * 86_400))
      try await shop.resume()
      try await lab.pass(.seconds(86_400))
      try await expectAllDelivered()
      await shop.close()
      try await lab.pass(.seconds(60))
      #expect(purchases.value.begun == purchases.value.returned)
      readers.cancelAll()
      await readers.wait()
      await tasks.wait()
    }

    private func expectAllDelivered() async throws {
      let seen = try lab.server.snapshot()
      #expect(seen.charges.count == seen.credits.count)
      #expect(seen.doubledCredits == 0)
      #expect(!seen.charges.contains { !$0.isFinished })
      let given = Set(fulfilling.value.given.filter(\.isFulfilled).map(\.key.transactionID))
      for credit in seen.credits { #expect(given.contains(credit.transaction.transactionID), "\(credit)") }
      #expect(fulfilling.value.most <= 1)
      let rest = try await shop.syncEngine().snapshot()
      #expect(rest.purchases.isEmpty)
      #expect(rest.outcomes.isEmpty)
    }
  }
}

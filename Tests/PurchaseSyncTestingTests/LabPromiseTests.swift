import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import PurchaseSyncTesting
import Testing

/// A lab fails a test whose app delivers too late, or makes calls without a pace. Each test plants a fault, or shows what
/// is none.
@Suite struct LabPromiseTests {
  private static let products = [StoreProduct(id: "coins", kind: .consumable)]

  private static func run(_ body: @escaping @Sendable (AppLab, LabPhone) async throws -> Void) async throws {
    try await AppLab.run(products: products) { lab in try await body(lab, lab.phone()) }
  }

  /// Buys in an outage, which is then over.
  private static func buyInOutage(_ lab: AppLab, _ shop: PurchaseSync.Shop) async throws {
    try await shop.signedIn(as: "alice")
    lab.server.setFaults(.outage(path: "/v1/receipts", requests: 1_000))
    #expect(try await shop.purchase("coins", for: "alice") == .pending(.delivery))
    try await lab.pass(.seconds(600))
    lab.server.setFaults(.none)
  }

  /// An app whose timers ring no more, in a lab that passes so much time, after a wake or without one.
  private static func runWithoutTimers(waking: WakeReason?, _ time: Duration) async throws {
    try await run { lab, phone in
      try await phone.launch { app in
        var configuration = app.configuration
        let sleep = configuration.system.sleep
        let ring = Locked(true)
        configuration.system.sleep = { try await sleep(ring.value ? $0 : $0 + 86_400_000) }
        let shop = app.shop(configuration) { _ in }
        try await buyInOutage(lab, shop)
        ring.withLock { $0 = false }
        if waking == nil {
          // The next attempt fails as well. Its timer is the first that does not ring.
          phone.setOffline(true)
          try await lab.pass(.seconds(1_200))
          phone.setOffline(false)
        }
        if let waking { try await shop.syncEngine().wake(waking) }
        try await lab.pass(time)
        withExtendedLifetime(shop) {}
      }
    }
  }

  @Test(arguments: [nil, WakeReason.networkBack, .foreground])
  func `a purchase whose retry never comes is late`(waking: WakeReason?) async throws {
    let bound: Duration = waking == nil ? .seconds(1_200) : .seconds(60)
    let error = await #expect(throws: AppLabError.self) {
      try await Self.runWithoutTimers(waking: waking, bound + .seconds(70))
    }
    guard case .late("phone", _, let after, let isWoken)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(after > bound)
    #expect(isWoken == (waking != nil))
    #expect(error?.description.contains("not delivered") == true)
  }

  @Test func `a purchase is not late as long as it may still come in time`() async throws {
    try await Self.runWithoutTimers(waking: .networkBack, .seconds(59))
    try await Self.runWithoutTimers(waking: nil, .seconds(1_100))
  }

  @Test func `neither an outage nor a phone that stays offline makes a purchase late`() async throws {
    try await Self.run { lab, phone in
      try await phone.launch { app in
        let shop = app.shop { _ in }
        try await Self.buyInOutage(lab, shop)
        phone.setOffline(true)
        try await shop.retryNow()
        try await lab.pass(.seconds(86_400))
        try await shop.retryNow()
        try await lab.pass(.seconds(86_400))
        #expect(lab.figures.deliveries == [])
        phone.setOffline(false)
        try await shop.retryNow()
        try await lab.pass(.seconds(60))
      }
      let delivery = try #require(lab.figures.deliveries.first)
      #expect(delivery.phone == "phone")
      #expect(delivery.after <= .seconds(60))
      #expect(lab.figures.uploadsPerMinute > 0)
    }
  }

  @Test func `what a backend asks for, a sign-in and a closed app make no purchase late`() async throws {
    try await Self.run { lab, phone in
      let signedIn = Locked(true)
      try await phone.launch { app in
        let shop = app.shop(signedIn: signedIn) { _ in }
        try await shop.signedIn(as: "alice")
        lab.server.setFaults(.refusal(retryAfter: .seconds(7_200)))
        _ = try await shop.purchase("coins", for: "alice")
        try await shop.retryNow()
        try await lab.pass(.seconds(7_000))
        signedIn.withLock { $0 = false }
        try await lab.pass(.seconds(86_400))
      }
      try await lab.pass(.seconds(86_400))
      signedIn.withLock { $0 = true }
      try await phone.launch { app in
        let shop = app.shop(signedIn: signedIn) { _ in }
        try await shop.signedIn(as: "alice")
        try await lab.pass(.seconds(60))
      }
      #expect(lab.figures.deliveries.count == 1)
    }
  }

  @Test func `a fulfil that is called with the same outcome again and again has no pace`() async throws {
    let error = await #expect(throws: AppLabError.self) {
      try await Self.run { lab, phone in
        try await phone.launch { app in
          let configuration = app.configuration
          let sight = configuration.system.sight
          let shop = app.shop(configuration) { outcome in
            // A shop that gives the outcome ten times a second until it is confirmed.
            for _ in 0..<400 {
              try await lab.pass(.milliseconds(100))
              sight?(.calls(.fulfil(outcome)))
            }
          }
          _ = try await shop.purchase("coins", for: "alice")
          try await lab.pass(.seconds(60))
        }
      }
    }
    guard case .unpaced("phone", "calls of fulfil", let count)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(count > 120)
    #expect(error?.description.contains("calls of fulfil in a minute") == true)
  }

  @Test func `a fulfil that fails and calls the shop each time has a pace`() async throws {
    try await Self.run { lab, phone in
      let calls = Locked(0)
      try await phone.launch { app in
        let own = Locked<PurchaseSync.Shop?>(nil)
        let shop = app.shop { _ in
          calls.withLock { $0 += 1 }
          try await own.value?.retryNow()
          throw CancellationError()
        }
        own.withLock { $0 = shop }
        _ = try await shop.purchase("coins", for: "alice")
        try await lab.pass(.seconds(600))
        own.withLock { $0 = nil }
      }
      #expect(calls.value > 1)
      #expect(lab.figures.repeatedFulfilmentsPerMinute > 0)
      #expect(lab.figures.repeatedFulfilmentsPerMinute <= 120)
    }
  }

  @Test func `many purchases in a minute are no loop`() async throws {
    try await Self.run { lab, phone in
      try await phone.launch { app in
        let shop = app.shop { _ in }
        for _ in 0..<80 {
          let sale = try await shop.purchase("coins", for: "alice")
          #expect(sale.isFulfilled)
        }
      }
      #expect(lab.figures.deliveries.count == 80)
      #expect(lab.figures.credentialsPerMinute > 120)
    }
  }
}

extension LabApp {
  fileprivate func shop(
    _ configuration: SyncConfiguration? = nil, signedIn: Locked<Bool> = Locked(true),
    fulfil: @escaping @Sendable (Outcome) async throws -> Void
  ) -> PurchaseSync.Shop {
    PurchaseSync.Shop(
      store: store, backend: backend, configuration: configuration ?? self.configuration,
      credentials: { signedIn.value ? "token-" + $0.account : nil }, fulfil: fulfil)
  }
}

import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import PurchaseSyncTesting
import Testing

/// A person pays where there is no network, and is served soon after it is back, in a whole app.
@Suite struct PromptShopTests {
  private static let products = [StoreProduct(id: "coins", kind: .consumable)]

  /// What brings the purchase after the network is back.
  enum Sign: CaseIterable, Sendable {
    case network, foreground, signIn, tap, launch, launchAndTap
  }

  /// Pays, and is without a network from the sheet on.
  private func payOffline(_ shop: PurchaseSync.Shop, on phone: LabPhone, _ app: LabApp) async throws {
    try await shop.signedIn(as: "alice")
    _ = try await shop.purchase("coins", for: "alice") { order in
      let result = try await app.store.purchase(order)
      phone.setOffline(true)
      return result
    }
  }

  private func give(_ sign: Sign, to shop: PurchaseSync.Shop) async throws {
    let engine = try await shop.syncEngine()
    switch sign {
    case .network: try await engine.wake(.networkBack)
    case .foreground, .launch: try await engine.wake(.foreground)
    case .signIn: try await shop.signedIn(as: "alice")
    case .tap, .launchAndTap: try await shop.retryNow()
    }
  }

  @Test(arguments: Sign.allCases, [2, 10, 45, 240])
  func `after minutes without a network, the purchase is delivered within a minute of a sign`(
    sign: Sign, minutes: Int
  ) async throws {
    try await AppLab.run(products: Self.products) { lab in
      let phone = lab.phone()
      let credits = Locked(0)
      let launches = sign == .launch || sign == .launchAndTap
      try await phone.launch { app in
        let shop = app.promptShop { credits.withLock { $0 += 1 } }
        try await payOffline(shop, on: phone, app)
        try await lab.pass(.seconds(minutes * 60))
        #expect(credits.value == 0)
        guard !launches else { return }
        phone.setOffline(false)
        try await give(sign, to: shop)
        try await lab.pass(.seconds(60))
        #expect(credits.value == 1)
      }
      guard launches else { return }
      phone.setOffline(false)
      try await phone.launch { app in
        let shop = app.promptShop { credits.withLock { $0 += 1 } }
        try await give(sign, to: shop)
        try await lab.pass(.seconds(60))
        #expect(credits.value == 1)
      }
    }
  }

  @Test func `a tap delivers within two seconds, and a hundred taps are no load`() async throws {
    try await AppLab.run(products: Self.products) { lab in
      let phone = lab.phone()
      let credits = Locked(0)
      let uploads = Locked(0)
      try await phone.launch { app in
        var configuration = app.configuration
        configuration.log = { record in
          if record.name == "uploading" { uploads.withLock { $0 += 1 } }
        }
        let shop = app.promptShop(configuration) { credits.withLock { $0 += 1 } }
        try await payOffline(shop, on: phone, app)
        try await lab.pass(.seconds(1_800))
        let before = uploads.value
        for _ in 0..<100 {
          try await shop.retryNow()
          try await lab.pass(.milliseconds(100))
        }
        #expect(uploads.value - before <= 11)
        phone.setOffline(false)
        try await shop.retryNow()
        try await lab.pass(.seconds(2))
        #expect(credits.value == 1)
      }
    }
  }

  @Test(arguments: [-365, -1, 1, 365])
  func `a clock that jumps in the outage delays nothing`(days: Int) async throws {
    try await AppLab.run(products: Self.products) { lab in
      let phone = lab.phone()
      let credits = Locked(0)
      try await phone.launch { app in
        let shop = app.promptShop { credits.withLock { $0 += 1 } }
        try await payOffline(shop, on: phone, app)
        for error in [0, days, 0] {
          phone.setClockError(.seconds(error * 86_400))
          try await lab.pass(.seconds(900))
        }
        phone.setOffline(false)
        let engine = try await shop.syncEngine()
        try await engine.wake(.networkBack)
        try await lab.pass(.seconds(60))
        #expect(credits.value == 1)
      }
    }
  }
}

extension LabApp {
  /// A shop that counts what it delivers.
  fileprivate func promptShop(
    _ configuration: SyncConfiguration? = nil, delivered: @escaping @Sendable () -> Void
  ) -> PurchaseSync.Shop {
    PurchaseSync.Shop(
      store: store, backend: backend, configuration: configuration ?? self.configuration,
      credentials: { "token-" + $0.account }, fulfil: { _ in delivered() })
  }
}

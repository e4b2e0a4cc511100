import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The examples of the articles do what the articles say.
@Suite struct GuideExampleTests {
  @Test func `the restore button says what was found`() async throws {
    try await BuyingFixture.withShop { fixture, shop, wallet in
      #expect(try await restorePurchases(of: "alice", in: shop) == "Nothing new was found.")
      _ = try await shop.purchase("pro", for: "alice")
      await shop.close()
      let next = try fixture.shop(wallet, configuration: try fixture.configuration("new phone"))
      #expect(try await restorePurchases(of: "alice", in: next) == "Restored: 1.")
      await next.close()
    }
  }

  @Test func `a report names the order and its state, and no token`() async throws {
    try await BuyingFixture.withShop { fixture, shop, _ in
      _ = try await shop.purchase("gems", for: "alice")
      let item = try #require(await firstStatus(of: shop) { !$0.purchases.isEmpty }.purchases.first)
      let text = try await report(on: item, in: shop)
      #expect(text.contains("settled (granted)") && text.contains("order: order-1"))
      #expect(!text.contains("token-"))
    }
  }

  @Test func `a purchase without an order has a report, too`() async throws {
    try await BuyingFixture.withShop(.outage(path: "/v1/receipts", requests: 1_000_000)) { fixture, shop, _ in
      _ = try await fixture.store.pay(product: "gems", quantity: 1, accountToken: nil)
      try await shop.resume()
      let item = try #require(await firstStatus(of: shop) { !$0.purchases.isEmpty }.purchases.first)
      let text = try await report(on: item, in: shop)
      #expect(text.contains(item.id) && text.contains("lane: device"))
    }
  }

  @Test func `the settings differ from the defaults as the article says`() {
    let settings = settings()
    #expect(settings.limits.entries == 256 && settings.orderPolicy == .backendFirst(timeLimit: .seconds(5)))
  }
}

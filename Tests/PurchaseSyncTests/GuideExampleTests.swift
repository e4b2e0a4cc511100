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
      let sale = try await shop.purchase("gems", for: "alice")
      guard case .delivered(let outcome) = sale else { throw Unexpected(sale: sale) }
      let text = try await report(on: outcome.orderNumber ?? "", in: shop)
      #expect(text.contains("settled (granted)") && text.contains("order: order-1"))
      #expect(!text.contains("token-"))
    }
  }

  @Test func `the settings differ from the defaults as the article says`() {
    let settings = settings()
    #expect(settings.limits.entries == 256 && settings.orderPolicy == .backendFirst(timeLimit: .seconds(5)))
  }
}

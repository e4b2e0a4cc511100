import PurchaseSync
import PurchaseSyncTesting
import Testing

/// The shortest way to a delivery.
@Suite struct FirstDelivery {
  // MARK: begin first delivery
  @Test func `the first delivery`() async throws {
    try await AppLab.run(products: [StoreProduct(id: "gems.100", kind: .consumable)]) { lab in
      try await lab.phone().launch { app in
        let shop = Shop(
          store: app.store, backend: app.backend, configuration: app.configuration,
          credentials: { "token-" + $0.account }, fulfil: { outcome in print("credit \(outcome.key), once") })
        let sale = try await shop.purchase("gems.100", for: "alice")
        #expect(sale.isFulfilled)
      }
    }
  }
  // MARK: end first delivery
}

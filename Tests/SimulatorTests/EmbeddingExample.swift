import Foundation
import PurchaseSync
import PurchaseSyncTesting

// The README's example, between the two marks. It has to compile; a test compares the text.
// MARK: begin
func runShop(store: MockStoreClient, api: URL) async throws {
  let shop = Shop(
    store: store, backend: URLSessionTransport(base: api),
    credentials: { request in "the bearer token of \(request.account)" },
    fulfil: { outcome in print("order \(outcome.orderNumber ?? "none"): \(outcome.verdict.rawValue)") })

  // One call makes the order, shows the payment sheet, and waits for the backend.
  let sale = try await shop.purchase("gems.100", for: "alice")
  print(sale.message)
}
// MARK: end

import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

// The README's example, between the two marks. It has to compile; a test compares the text.
// MARK: begin
func runShop(container: String, keychain: any QueueVault, store: MockStoreClient, api: URL) async throws {
  let engine = try await SyncEngine.open(
    SyncConfiguration(path: container + "/purchases.sqlite", vault: keychain),
    store: store, transport: URLSessionTransport(base: api),
    credentials: { request in "the bearer token of \(request.account)" })

  // Each outcome, of now or from before a crash, arrives here until it is confirmed.
  let events = try await engine.eventStream()
  Task {
    for await event in events {
      guard case .delivered(let outcome) = event else { continue }
      print("order \(outcome.orderNumber ?? "none"): \(outcome.verdict.rawValue)")
      try await engine.confirm(outcome)
    }
  }

  // A purchase: the order first, then the payment, then the store's answer to the engine, whatever it is.
  let order = try await engine.begin(product: "gems.100", account: "alice")
  let result = try await store.purchase(
    product: order.productID, quantity: order.quantity, accountToken: order.accountToken)
  try await engine.receive(result, for: order)
}
// MARK: end

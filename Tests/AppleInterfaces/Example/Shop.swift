import Foundation
import PurchaseQueue
import PurchaseSync
import StoreKit

// MARK: begin
/// What an app keeps for its whole life: made at launch, before anything is shown.
@MainActor final class Shop {
  private let store = StoreKitStore()
  private let engine: SyncEngine
  private let updates: Task<Void, Never>

  init(container: String, api: URL) async throws {
    let store = self.store
    let engine = try await SyncEngine.open(
      SyncConfiguration(
        path: container + "/purchases.sqlite", vault: KeychainVault(service: "com.example.app.purchases")),
      store: store, transport: URLSessionTransport(base: api),
      credentials: { account in "the bearer token of \(account)" })
    self.engine = engine
    updates = Task { await engine.receive(updates: store.updates) }
  }

  func buy(_ productID: String, account: String) async throws {
    let order = try await engine.begin(product: productID, account: account)
    switch try await store.purchase(order) {
    case .purchased(let transaction): try await engine.receive(transaction)
    case .pending: print("Somebody else has to agree. The order stays open.")
    case .cancelled: print("Nothing was charged.")
    }
  }

  func close() async {
    updates.cancel()
    await engine.shutdown()
  }
}
// MARK: end

/// A view controller's scene, or SwiftUI's `PurchaseAction`, in place of the default.
@MainActor func buy(_ order: Order, at store: StoreKitStore) async throws -> PurchaseResult {
  try await store.purchase(order) { product, options in try await product.purchase(options: options) }
}

/// Both modules have an `AppStore`: an app that needs one of them by name says whose.
func receipt(of store: any PurchaseSync.AppStore, isAskedFor: Bool) async throws -> [UInt8]? {
  isAskedFor ? try await store.refreshReceipt() : try await store.receipt()
}

let environment: StoreKit.AppStore.Environment? = nil

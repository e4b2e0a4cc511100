import Foundation
import PurchaseQueue
import PurchaseSync
import StoreKit

// MARK: begin
/// The objects that an app keeps while it runs. Made at launch, before the app shows a view.
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
      credentials: { request in "the bearer token of \(request.account)" })
    self.engine = engine
    updates = Task { await engine.receive(updates: store.updates) }
  }

  func buy(_ productID: String, account: String) async throws {
    let order = try await engine.begin(product: productID, account: account)
    let result = try await store.purchase(order)
    try await engine.receive(result, for: order)
    switch result {
    case .purchased: print("On its way. The outcome comes with the events.")
    case .pending: print("The payment waits for approval.")
    case .cancelled: print("No payment is known. One that completes later is delivered all the same.")
    }
  }

  func close() async {
    updates.cancel()
    await engine.shutdown()
  }
}
// MARK: end

/// Passes a sheet, such as a view controller's scene or SwiftUI's `PurchaseAction`, instead of the default.
@MainActor func buy(_ order: PurchaseOrder, at store: StoreKitStore) async throws -> PurchaseResult {
  try await store.purchase(order) { product, options in try await product.purchase(options: options) }
}

/// No name of PurchaseSync clashes with StoreKit's: an app uses both without a module's name.
func receipt(of store: any StoreClient, isAskedFor: Bool) async throws -> [UInt8]? {
  isAskedFor ? try await store.refreshReceipt() : try await store.receipt()
}

let environment: AppStore.Environment? = nil

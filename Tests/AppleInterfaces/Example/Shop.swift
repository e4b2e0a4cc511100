import Foundation
import PurchaseQueue
import PurchaseSync
import StoreKit

// MARK: begin
/// What an app keeps while it runs. Made at launch, before the app shows a view.
@MainActor final class Purchases {
  private let shop: Shop

  init(api: URL, wallet: any Wallet) {
    shop = Shop(
      store: StoreKitStore(), backend: URLSessionTransport(base: api),
      credentials: { request in "the bearer token of \(request.account)" },
      fulfil: { outcome in try await wallet.apply(outcome) })
  }

  /// Returns a text for the user.
  func buy(_ productID: String, account: String) async -> String {
    do {
      return try await shop.purchase(productID, for: account).message
    } catch {
      return [error.localizedDescription, error.failureReason].compactMap(\.self).joined(separator: " ")
    }
  }
}
// MARK: end

/// What the user has. The latest outcome of each transaction decides.
protocol Wallet: Sendable {
  func apply(_ outcome: Outcome) async throws
}

/// Passes a sheet, such as a view controller's scene or SwiftUI's `PurchaseAction`, instead of the default.
@MainActor func buy(_ productID: String, in shop: Shop, at store: StoreKitStore) async throws -> Sale {
  try await shop.purchase(productID, for: "alice") { order in
    try await store.purchase(order) { product, options in try await product.purchase(options: options) }
  }
}

/// The layer below the shop, for an app that drives the engine by itself.
func open(container: String, api: URL) async throws -> SyncEngine {
  let (store, path) = (StoreKitStore(), container + "/purchases.sqlite")
  let engine = try await SyncEngine.open(
    SyncConfiguration(path: path, vault: KeychainVault(service: "com.example.app.purchases")), store: store,
    transport: URLSessionTransport(base: api), credentials: { "the bearer token of \($0.account)" })
  Task { await engine.receive(updates: store.updates) }
  return engine
}

/// No name of PurchaseSync clashes with StoreKit's: an app uses both without a module's name.
func receipt(of store: any StoreClient, isAskedFor: Bool) async throws -> [UInt8]? {
  isAskedFor ? try await store.refreshReceipt() : try await store.receipt()
}

let environment: AppStore.Environment? = nil

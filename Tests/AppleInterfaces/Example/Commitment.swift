import PurchaseSync
import StoreKit

/// Sells a year that is paid monthly.
@available(iOS 26.4, macOS 26.4, *)
func buyInInstalments(in shop: Shop, at store: StoreKitStore) async throws -> Sale {
  try await shop.purchase(
    "plan.year", for: "alice", sheet: store.sheet(options: [.billingPlanType(.monthly)]))
}

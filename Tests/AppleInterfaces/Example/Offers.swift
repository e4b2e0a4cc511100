import Foundation
import PurchaseSync
import StoreKit

/// Sells a subscription with a promotional offer that the backend signs for this user.
func buyWithOffer(
  in shop: Shop, at store: StoreKitStore, sign: @escaping @Sendable (PurchaseOrder) async throws -> String
) async throws -> Sale {
  let sheet = store.sheet { order in
    let signature = try await sign(order)
    return Set(Product.PurchaseOption.promotionalOffer("spring", compactJWS: signature))
  }
  return try await shop.purchase("plan.month", for: "alice", sheet: sheet)
}

/// Sells it with an introductory offer for which the backend says that the user is eligible, in the app's own sheet.
func buyFirstMonth(_ eligibility: String, in shop: Shop, at store: StoreKitStore) async throws -> Sale {
  let sheet = store.sheet(options: [.introductoryOfferEligibility(compactJWS: eligibility)]) {
    product, options in
    try await product.purchase(options: options)
  }
  return try await shop.purchase("plan.month", for: "alice", sheet: sheet)
}

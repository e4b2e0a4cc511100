import Foundation
import PurchaseSync
import StoreKit

// MARK: begin
/// Sells what the user began to buy in the App Store, to the account that is signed in then, or to a guest. Call it at
/// launch, in a task of its own.
@available(iOS 16.4, macOS 14.4, *)
func sellPromotions(of shop: Shop, at store: StoreKitStore, to account: () -> String?) async {
  for await intent in store.purchaseIntents {
    let (product, sheet) = (intent.productID, intent.sheet())
    do {
      let sale =
        if let account = account() {
          try await shop.purchase(product, for: account, sheet: sheet)
        } else {
          try await shop.purchase(product, for: .guest, sheet: sheet)
        }
      print(sale.message)
    } catch {
      print(error.localizedDescription)
    }
  }
}
// MARK: end

/// Offers to a user whose subscription has ended that it begins again for less.
@available(iOS 18.0, macOS 15.0, *)
func winBack(_ offer: Product.SubscriptionOffer, in shop: Shop, at store: StoreKitStore) async throws -> Sale
{
  try await shop.purchase("plan.month", for: "alice", sheet: store.sheet(options: [.winBackOffer(offer)]))
}

/// Redeems an offer code for an account. `controller`: the view controller that shows the sheet.
@available(iOS 27.0, macOS 27.0, *)
@MainActor func redeem(from controller: NSObject, in shop: Shop, at store: StoreKitStore) async throws -> Sale
{
  nonisolated(unsafe) let controller = controller
  let sheet = store.redeemSheet { try await AppStore.presentOfferCodeRedeemSheet(from: controller) }
  return try await shop.redeem(for: "alice", sheet: sheet)
}

/// Sells to a person who is not signed in, and keeps it for the account that this person signs in with.
func buyAsGuest(in shop: Shop, signIn: () async -> String) async throws {
  print(try await shop.purchase("gems.100", for: .guest).message)
  try await shop.signedIn(as: await signIn(), adoptingGuest: true)
}

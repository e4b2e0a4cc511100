import PurchaseSync
import StoreKit

// MARK: begin
/// Sells what the user began to buy in the App Store, to the account that is signed in then. Call it at launch, in a task
/// of its own.
@available(iOS 16.4, macOS 14.4, *)
func sellPromotions(of shop: Shop, at store: StoreKitStore, to account: () -> String?) async {
  for await intent in store.purchaseIntents {
    guard let account = account() else { continue }
    do {
      print(try await shop.purchase(intent.productID, for: account, sheet: intent.sheet()).message)
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

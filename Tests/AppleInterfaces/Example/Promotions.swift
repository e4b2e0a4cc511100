import Foundation
import PurchaseSync
import StoreKit

// MARK: begin
/// What the user began to buy in the App Store. It is kept until a person is there to be asked: nothing is charged before the sheet.
@available(iOS 16.4, macOS 14.4, *)
@MainActor final class Promotions {
  private var kept: [StoreKitStore.Intent] = []
  private var isSelling = false

  /// Call it at launch, in a task of its own. `account` says who is signed in; nil while no account is.
  func listen(at store: StoreKitStore, in shop: Shop, to account: @escaping () -> String?) async {
    for await intent in store.purchaseIntents {
      kept.append(intent)
      await sell(in: shop, to: account)
    }
  }

  /// Call it after each sign-in, too. An app that sells to guests passes `shop.purchase(…, for: .guest, …)` instead.
  func sell(in shop: Shop, to account: () -> String?) async {
    guard !isSelling else { return }
    isSelling = true
    defer { isSelling = false }
    while let intent = kept.first, let account = account() {
      do {
        let sale = try await shop.purchase(intent.productID, for: account, sheet: intent.sheet())
        print(sale.message)
        // Refused before the payment, such as without a network: the offer is still there for the next call.
        if case .refused = sale { return }
      } catch {
        // The end is not known: what was paid is delivered, and a second sheet could charge again.
        print(error.localizedDescription)
      }
      kept.removeFirst()
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

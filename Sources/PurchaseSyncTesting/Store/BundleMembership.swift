import AppStoreReceipts

/// Which transactions of a bundle's payment have the payment's account token. Apple's documents do not say, so a backend has
/// to work with each of these.
public enum BundleTokens: String, Sendable, Hashable, Codable, CaseIterable {
  /// Each transaction.
  case all
  /// The one that the payment sheet returns.
  case first
  /// None.
  case none
}

/// The bundle that a subscription is part of.
package struct BundleMembership: Sendable, Hashable, Codable {
  /// What becomes of a subscription that leaves its bundle with the end of its period.
  package enum Leaving: String, Sendable, Hashable, Codable {
    /// It renews as a product of its own.
    case alone
    /// It ends: the customer has left the bundle.
    case ends
  }

  package var productID: String
  package var groupID: String?
  /// The first payment of the bundle.
  package var originalTransactionID: String
  /// Nil if it stays.
  package var leaving: Leaving?

  func purchase(_ transactionID: String?) -> BundlePurchase {
    BundlePurchase(
      productID: productID, groupID: groupID, transactionID: transactionID,
      originalTransactionID: originalTransactionID)
  }
}

extension Subscription {
  /// The customer leaves the bundle with the end of this period; false if the subscription is part of none.
  mutating func leaveBundle(_ leaving: BundleMembership.Leaving, alone plan: SubscriptionPlan?) -> Bool {
    guard isEntitled, bundle != nil, bundle?.leaving != leaving else { return false }
    bundle?.leaving = leaving
    willRenew = leaving == .alone
    nextPlan = plan ?? self.plan
    return true
  }

  /// A bundle takes its place now.
  mutating func endForBundle() {
    phase = .refunded
    willRenew = false
    nextPlan = plan
    priceIncrease = nil
  }
}

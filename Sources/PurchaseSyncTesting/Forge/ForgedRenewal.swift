import AppStoreDocuments
package import AppStoreReceipts
package import PurchaseQueue

/// The next renewal of a subscription, as the store's documents say.
package struct ForgedRenewal: Sendable, Hashable {
  package var originalTransactionID: String
  package var productID: String
  package var autoRenewProductID: String
  package var willAutoRenew: Bool
  /// Why it ended: 1 to 5.
  package var expirationIntent: Int?
  /// Whether the store still tries to charge.
  package var isInBillingRetry: Bool?
  /// The end of the grace period after a failed charge.
  package var gracePeriodExpiresAt: Timestamp?
  /// Whether the customer consented to a higher price; nil without a question.
  package var consentsToPrice: Bool?
  /// What follows the commitment; nil without one. Until then the next payment is certain.
  var commitment: Commitment?

  /// The bundle that the next renewal is part of.
  package var bundle: BundlePurchase?
  /// Whether the subscription leaves its bundle at the next renewal, and renews alone; nil if it is part of none.
  package var willUnbundle: Bool?
  /// How many seats renew; nil for a subscription without seats.
  package var seats: Int?

  /// A renewal of the same product, unless `autoRenewProductID` differs.
  package init(
    of record: StoreTransactionRecord, autoRenewProductID: String? = nil, willAutoRenew: Bool = true
  ) {
    originalTransactionID = record.originalTransactionID
    productID = record.productID
    self.autoRenewProductID = autoRenewProductID ?? record.productID
    self.willAutoRenew = willAutoRenew
  }

  /// The next renewal of a subscription, for its own chain or for the chain of a family member.
  package init(of subscription: Subscription, originalTransactionID: String? = nil) {
    self.originalTransactionID = originalTransactionID ?? subscription.originalTransactionID
    productID = subscription.last.productID
    autoRenewProductID = subscription.nextPlan.productID
    willAutoRenew = subscription.willRenew
    if let membership = subscription.bundle {
      willUnbundle = membership.leaving == .alone
      if membership.leaving == nil { bundle = membership.purchase(nil) }
    }
    if let commitment = subscription.commitment {
      self.commitment = Commitment(
        endsAt: commitment.endsAt, productID: subscription.nextPlan.productID,
        willRenew: subscription.willRenew,
        price: subscription.nextPrice.map { $0 * Int64(subscription.nextPlan.commitment ?? 1) })
      if subscription.isBound {
        (willAutoRenew, autoRenewProductID) = (subscription.dueAt != nil, subscription.plan.productID)
      }
    }
    switch subscription.priceIncrease {
    case .pending, .declined: consentsToPrice = false
    case .consented: consentsToPrice = true
    case nil: break
    }
    switch subscription.phase {
    case .active, .refunded: break
    case .gracePeriod, .billingRetry:
      if case .gracePeriod(let until) = subscription.phase { gracePeriodExpiresAt = until }
      expirationIntent = ExpirationIntent.billingError.rawValue
      isInBillingRetry = true
    case .expired(let intent):
      expirationIntent = intent.rawValue
      isInBillingRetry = false
    }
  }
}

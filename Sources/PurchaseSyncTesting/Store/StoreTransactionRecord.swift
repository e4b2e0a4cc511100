public import AppStoreReceipts
public import Foundation
public import PurchaseQueue

/// One transaction as the model of the store keeps it.
public struct StoreTransactionRecord: Sendable, Hashable, Codable {
  /// The reason for the transaction.
  public enum Cause: String, Sendable, Hashable, Codable {
    /// A purchase.
    case purchase
    /// A renewal, or a charge after a failed one.
    case renewal
    /// A restored earlier purchase: not a charge.
    case restore
    /// A share of a family member's purchase: not a charge.
    case familyShare
    /// A seat of another person's subscription: not a charge.
    case assignedSeat
  }

  /// Who can finish a transaction.
  package enum Finisher: String, Sendable, Hashable, Codable {
    /// The app on a device.
    case app
    /// The backend, over the App Store Server API.
    case backend
  }

  /// Unique within its store; decimal digits, as in the real store.
  public var transactionID: String
  /// The first transaction of the chain; its own id for a first purchase.
  public var originalTransactionID: String
  /// The Apple ID that owns it, and paid it unless it is a family share.
  public var storeAccount: String
  /// What was bought.
  public var productID: String
  /// Which kind of product that is.
  public var kind: StoreProduct.Kind
  /// How many. Of a subscription these are seats: those that this transaction paid for, and of an assigned seat those of its
  /// purchaser.
  public var quantity: Int
  /// The account token that came with the payment, if any.
  public var accountToken: UUID?
  /// When the store charged.
  public var purchasedAt: Timestamp
  /// When the first transaction of the chain was charged.
  public var originalPurchasedAt: Timestamp
  /// When the period of a subscription ends.
  public var expiresAt: Timestamp?
  /// Which store it is from.
  public var environment: StoreEnvironment
  /// Whether it is finished; the store redelivers it until then.
  public var isFinished: Bool
  /// When it was finished first; nil if it is not, and if the moment was not recorded.
  package var finishedAt: Timestamp?
  /// Who finished it first; nil if it is not finished, and if that was not recorded.
  package var finisher: Finisher?
  /// When the charge was refunded or the share revoked, if it was.
  public var revokedAt: Timestamp?
  /// How much of the charge was refunded; nil for all of it. Without meaning if `revokedAt` is nil.
  public var refundedShare: RefundedShare?
  /// The reason of the revocation; without meaning if `revokedAt` is nil.
  public var revocationReason = RevocationReason.other
  /// Whether another product of its group has replaced this period of a subscription.
  public var isUpgraded: Bool
  /// The purchase of a bundle that it is part of.
  public var bundle: BundlePurchase?
  /// How the store delivers it to apps.
  public var delivery: StoreDelivery
  /// The reason for the transaction.
  public var cause = Cause.purchase
  /// Whether the period is a free trial.
  public var isTrial = false
  /// Whether the period has an introductory price.
  public var isInIntroductoryOffer = false
  /// The subscription group.
  public var groupID: String?
  /// Names the purchase of one period; of subscriptions (R2.4).
  public var webOrderLineItemID: String?
  /// The place of the period in a commitment; nil without one.
  public var commitment: StoreCommitment?
  /// The name of the offer code that was redeemed, if one was.
  public var offerCode: String?
  /// The price in thousandths of the currency's unit; nil for unknown.
  public var price: Int64?
  /// Who invites the members of a subscription with seats; nil if it has one seat, and can have no more.
  public var invitations: InvitationManagement?
  /// How many of its seats were refunded.
  public var revokedSeats = 0
  /// Whether seats were added within its period, so that several transactions have paid for it.
  public var isOneOfSeveral = false
  /// The part of the price that was returned when another plan replaced it. A refund returns all of it.
  public var returnedPrice: Int64 = 0

  /// A charge with its usual fields; the others can be set.
  public init(
    transactionID: String, originalTransactionID: String? = nil, storeAccount: String, productID: String,
    kind: StoreProduct.Kind, quantity: Int, accountToken: UUID?, purchasedAt: Timestamp,
    expiresAt: Timestamp? = nil, environment: StoreEnvironment, isFinished: Bool = false,
    revokedAt: Timestamp? = nil, isUpgraded: Bool = false, delivery: StoreDelivery = StoreDelivery()
  ) {
    self.transactionID = transactionID
    self.originalTransactionID = originalTransactionID ?? transactionID
    self.storeAccount = storeAccount
    self.productID = productID
    self.kind = kind
    self.quantity = quantity
    self.accountToken = accountToken
    self.purchasedAt = purchasedAt
    originalPurchasedAt = purchasedAt
    self.expiresAt = expiresAt
    self.environment = environment
    self.isFinished = isFinished
    self.revokedAt = revokedAt
    self.isUpgraded = isUpgraded
    self.delivery = delivery
  }

  /// The ownership in the store's terms.
  public var ownership: OwnershipType {
    switch cause {
    case .familyShare: .familyShared
    case .assignedSeat: .assigned
    case .purchase, .renewal, .restore: .purchased
    }
  }

  /// Whether nothing of it is left: refunded completely, a refunded period, or a share that was revoked.
  public var isTakenBack: Bool {
    guard revokedAt != nil, !isUpgradedToBundle else { return false }
    return expiresAt != nil || (refundedShare ?? .whole).units(of: quantity) >= quantity
  }

  /// Whether the customer switched to a bundle, which ended it: nothing was refunded.
  public var isUpgradedToBundle: Bool { revokedAt != nil && revocationReason == .upgradedToBundle }

  /// How many units are paid and not refunded.
  public var unitsPaid: Int {
    guard revokedAt != nil else { return max(0, quantity - revokedSeats) }
    return isTakenBack ? 0 : quantity - (refundedShare ?? .whole).units(of: quantity)
  }

  /// Whether this store account was charged for it.
  public var isCharge: Bool { cause == .purchase || cause == .renewal }
}

public import AppStoreReceipts
public import Foundation
public import PurchaseQueue

/// One transaction as the model of the store keeps it.
public struct StoreTransactionRecord: Sendable, Hashable, Codable {
  /// Why there is a transaction.
  public enum Cause: String, Sendable, Hashable, Codable {
    /// Somebody bought.
    case purchase
    /// The store renewed a subscription, or charged again after a failure.
    case renewal
    /// Somebody restored an earlier purchase: not a charge.
    case restore
    /// A family member bought: not a charge.
    case familyShare
  }

  /// Unique within its store; decimal digits, as the real one's.
  public var transactionID: String
  /// The first transaction of the chain; its own id for a first purchase.
  public var originalTransactionID: String
  /// The Apple ID that has it, and paid unless it is a family share.
  public var storeAccount: String
  /// What was bought.
  public var productID: String
  /// Which kind of product that is.
  public var kind: StoreProduct.Kind
  /// How many.
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
  /// True once the app said that it is done; the store redelivers until then.
  public var isFinished: Bool
  /// When the charge was refunded or the share revoked, if it was.
  public var revokedAt: Timestamp?
  /// Why; of no meaning without `revokedAt`.
  public var revocationReason = RevocationReason.other
  /// Whether another product of its group has replaced this period of a subscription.
  public var isUpgraded: Bool
  /// How the store hands it to apps.
  public var delivery: StoreDelivery
  /// Why there is a transaction.
  public var cause = Cause.purchase
  /// Whether the period is a free trial.
  public var isTrial = false
  /// The subscription group.
  public var groupID: String?
  /// Names the purchase of one period; of subscriptions (R2.4).
  public var webOrderLineItemID: String?
  /// The name of the offer code that was redeemed, if one was.
  public var offerCode: String?
  /// What it cost, in thousandths of the currency's unit; nil for unknown.
  public var price: Int64?
  /// What was returned of that when another plan took its place. A refund returns all of it.
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

  /// Whose purchase it is, in the store's words.
  public var ownership: OwnershipType { cause == .familyShare ? .familyShared : .purchased }

  /// Whether this store account was charged for it.
  public var isCharge: Bool { cause == .purchase || cause == .renewal }
}

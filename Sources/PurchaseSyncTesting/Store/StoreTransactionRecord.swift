public import AppStoreReceipts
public import Foundation
public import PurchaseQueue

/// One charge as the model of the store keeps it.
public struct StoreTransactionRecord: Sendable, Hashable, Codable {
  /// Unique within its store; decimal digits, as the real one's.
  public var transactionID: String
  /// The first transaction of the chain; its own id for a first purchase.
  public var originalTransactionID: String
  /// The Apple ID that paid.
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
  /// When the period of a subscription ends.
  public var expiresAt: Timestamp?
  /// Which store it is from.
  public var environment: StoreEnvironment
  /// True once the app said that it is done; the store redelivers until then.
  public var isFinished: Bool
  /// When the charge was refunded, if it was.
  public var revokedAt: Timestamp?
  /// Whether another product of its group has replaced this period of a subscription.
  public var isUpgraded: Bool
  /// How the store hands it to apps.
  public var delivery: StoreDelivery

  /// A charge with all of its fields.
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
    self.expiresAt = expiresAt
    self.environment = environment
    self.isFinished = isFinished
    self.revokedAt = revokedAt
    self.isUpgraded = isUpgraded
    self.delivery = delivery
  }
}

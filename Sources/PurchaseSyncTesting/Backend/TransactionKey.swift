public import AppStoreReceipts
public import PurchaseQueue

/// What identifies a transaction: environment and id; where ids restart (Xcode), the purchase date as well.
public struct TransactionKey: Sendable, Hashable, Codable {
  /// The verified environment.
  public var environment: StoreEnvironment
  /// The verified id.
  public var transactionID: String
  /// When the store charged; only for environments that use ids again.
  public var purchasedAt: Timestamp?

  /// The date is kept only where the environment needs it.
  public init(environment: StoreEnvironment, transactionID: String, purchasedAt: Timestamp) {
    self.environment = environment
    self.transactionID = transactionID
    self.purchasedAt = environment.reusesTransactionIDs ? purchasedAt : nil
  }

  /// The key of a verified transaction.
  public init(_ facts: SignedTransaction) {
    self.init(
      environment: facts.environment, transactionID: facts.transactionID,
      purchasedAt: Timestamp(milliseconds: facts.purchaseDate))
  }

  /// The key of a verified transaction.
  init(_ facts: VerifiedTransaction) {
    self.init(
      environment: facts.environment, transactionID: facts.transactionID,
      purchasedAt: Timestamp(milliseconds: facts.purchaseDate))
  }

  /// The key of a charge in the model of the store.
  public init(_ record: StoreTransactionRecord) {
    self.init(
      environment: record.environment, transactionID: record.transactionID, purchasedAt: record.purchasedAt)
  }
}

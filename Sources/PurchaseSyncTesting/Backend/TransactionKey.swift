public import AppStoreReceipts
public import PurchaseQueue

/// The identity of a transaction: environment and id; where ids restart (Xcode), also the purchase date.
public struct TransactionKey: Sendable, Hashable, Codable {
  /// The verified environment.
  public var environment: StoreEnvironment
  /// The verified id.
  public var transactionID: String
  /// When the store charged; only for environments that use ids again.
  public var purchasedAt: Timestamp?

  /// The date is kept only where the environment needs it.
  package init(environment: StoreEnvironment, transactionID: String, purchasedAt: Timestamp) {
    self.environment = environment
    self.transactionID = transactionID
    self.purchasedAt = environment.reusesTransactionIDs ? purchasedAt : nil
  }

  package init(_ facts: SignedTransaction) {
    self.init(
      environment: facts.environment, transactionID: facts.transactionID,
      purchasedAt: Timestamp(milliseconds: facts.purchaseDate))
  }

  package init(_ facts: VerifiedTransaction) {
    self.init(
      environment: facts.environment, transactionID: facts.transactionID,
      purchasedAt: Timestamp(milliseconds: facts.purchaseDate))
  }

  /// The key of a charge in the model of the store.
  package init(_ record: StoreTransactionRecord) {
    self.init(
      environment: record.environment, transactionID: record.transactionID, purchasedAt: record.purchasedAt)
  }
}

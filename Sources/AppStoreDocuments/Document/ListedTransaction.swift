public import AppStoreReceipts

/// A transaction with the values that every kind of document has. Dates are milliseconds since 1970.
public struct ListedTransaction: Sendable, Hashable {
  /// The store's id.
  public var transactionID: String
  /// The id of the first transaction of its chain; equal to `transactionID` for a first purchase.
  public var originalTransactionID: String
  /// The product; nil if the document does not name it (the smallest transaction receipts).
  public var productID: String?
  /// How many units.
  public var quantity: Int
  /// When the store charged.
  public var purchaseDate: Int64?
  /// The end of the period. Only subscriptions have it.
  public var expiresDate: Int64?
  /// When the purchase was refunded or revoked.
  public var cancellationDate: Int64?
  /// How it was refunded or revoked, if the document says.
  public var revocationType: RevocationType?
  /// The share of a partial refund in thousandths of a percent, of the whole quantity; nil if the document has none.
  public var revocationPercentage: Int64?
  /// The store environment, if the document names it.
  public var environment: StoreEnvironment?
  /// The order's account token, unchanged, if the document has one.
  public var appAccountToken: String?
}

extension ListedTransaction {
  init(_ purchase: InAppPurchase, environment: StoreEnvironment?) {
    self.init(
      transactionID: purchase.transactionID, originalTransactionID: purchase.originalTransactionID,
      productID: purchase.productID, quantity: purchase.quantity, purchaseDate: purchase.purchaseDate,
      expiresDate: purchase.expiresDate, cancellationDate: purchase.cancellationDate, environment: environment
    )
  }

  init(_ receipt: TransactionReceipt) {
    self.init(
      transactionID: receipt.transactionID, originalTransactionID: receipt.originalTransactionID,
      productID: receipt.productID, quantity: receipt.quantity, purchaseDate: receipt.purchaseDate,
      expiresDate: receipt.expiresDate, cancellationDate: receipt.cancellationDate,
      environment: receipt.environment)
  }

  init(_ transaction: ReceiptTransaction, environment: StoreEnvironment?) {
    self.init(
      transactionID: transaction.transactionID, originalTransactionID: transaction.originalTransactionID,
      productID: transaction.productID, quantity: transaction.quantity,
      purchaseDate: transaction.purchaseDate, expiresDate: transaction.expiresDate,
      cancellationDate: transaction.cancellationDate, environment: environment,
      appAccountToken: transaction.appAccountToken)
  }

  init(_ transaction: SignedTransaction) {
    self.init(
      transactionID: transaction.transactionID, originalTransactionID: transaction.originalTransactionID,
      productID: transaction.productID, quantity: transaction.quantity,
      purchaseDate: transaction.purchaseDate, expiresDate: transaction.expiresDate,
      cancellationDate: transaction.revocationDate, revocationType: transaction.revocationType,
      revocationPercentage: transaction.revocationPercentage,
      environment: transaction.isEnvironmentStated ? transaction.environment : nil,
      appAccountToken: transaction.appAccountToken)
  }
}

/// A store that can also ask for a payment: what a ``Shop`` sells through. An app on Apple's systems uses `StoreKitStore`;
/// tests use `MockStoreClient`.
public protocol SellingStore: StoreClient {
  /// Transactions that arrive while the app runs.
  associatedtype Updates: AsyncSequence & Sendable where Updates.Element == StoreTransaction

  /// Transactions that arrive while the app runs, other than by `purchase`: approved Ask to Buy, renewals, refunds. May
  /// end at once: the shop also lists what is unfinished, at each foreground.
  var updates: Updates { get }

  /// Shows the payment sheet for an order, and returns when it is closed. Pass `order.accountToken` with the payment. Does
  /// not finish the transaction.
  ///
  /// An error does not prove that nothing was charged, except a ``StoreError`` from before the payment, such as
  /// `productUnavailable` or `notAllowed`.
  func purchase(_ order: PurchaseOrder) async throws -> PurchaseResult
}

/// The result of asking the store for a payment. Hand it to ``SyncEngine/receive(_:for:)-(PurchaseResult,_)`` at once; the engine finishes the
/// transaction.
public enum PurchaseResult: Sendable, Hashable {
  /// The store has a transaction for the user: a new one, or the earlier one of a product that the user owns already.
  case purchased(StoreTransaction)
  /// The payment waits for approval by another person (Ask to Buy) or by the bank. If it is approved, the
  /// transaction comes with the store's updates, perhaps days later. The order stays open until then.
  case pending
  /// The sheet was closed. No payment is known, and one may still complete later: with some banks the user confirms it
  /// in another app. The order stays matchable.
  case cancelled
}

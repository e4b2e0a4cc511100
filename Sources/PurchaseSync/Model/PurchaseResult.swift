/// The result of asking the store for a payment.
public enum PurchaseResult: Sendable, Hashable {
  /// The user paid. Hand the transaction to ``SyncEngine/receive(_:)`` at once; the engine finishes it.
  case purchased(StoreTransaction)
  /// The payment waits for approval by another person (Ask to Buy) or by the bank. If it is approved, the
  /// transaction comes with the store's updates, perhaps days later. The order stays open until then.
  case pending
  /// The user closed the sheet. Nothing was charged.
  case cancelled
}

/// What came of asking the store for a payment.
public enum PurchaseResult: Sendable, Hashable {
  /// Somebody paid. Hand it to ``SyncEngine/receive(_:)`` at once; the engine finishes it.
  case purchased(StoreTransaction)
  /// Somebody else has to agree first (Ask to Buy), or the bank has. If they do, the transaction comes with the
  /// store's updates, perhaps days later; the order stays open until then.
  case pending
  /// The user closed the sheet. Nothing was charged.
  case cancelled
}

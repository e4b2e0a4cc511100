import PurchaseQueue

/// The store's answer to the payment of an order: a new transaction, or one that was made before the order.
struct ExistingPayment {
  var transaction: StoreTransaction
  var order: PurchaseOrder
  /// The order that the transaction is bound to; nil if it is bound to none.
  var boundTo: String?
  /// Whether this process had the transaction settled before it handed out the order.
  var isSettledBefore: Bool
  /// A device made the order, so its time may be that of the device's clock.
  var isDeviceMade: Bool

  /// What is known counts before what the clocks say.
  var isExisting: Bool {
    if let boundTo { return boundTo != order.number }
    if let token = transaction.accountToken { return token != order.accountToken }
    if isSettledBefore { return true }
    guard !isDeviceMade else { return false }
    // Without a token only the times tell. The store's clock and the backend's differ by less than a minute.
    return transaction.purchasedAt.adding(milliseconds: 60_000) < order.createdAt
  }
}

import PurchaseQueue

/// The store's answer to the payment of an order: a new transaction, or one that was made before the order.
struct ExistingPayment {
  var transaction: StoreTransaction
  var order: PurchaseOrder
  /// The order that the transaction is bound to; nil if it is bound to none.
  var boundTo: String?
  /// Whether the transaction did not come after this process handed out the order.
  var isTakenBefore: Bool
  /// Whether the transaction is settled.
  var isSettled: Bool
  /// Other orders have the token of the order: it is the account's.
  var isTokenShared: Bool
  /// A device made the order, so its time may be that of the device's clock.
  var isDeviceMade: Bool

  /// What is known counts before what the clocks say.
  var isExisting: Bool {
    if boundTo == order.number { return false }
    // What is over answers no payment: the order's own transaction is still to come, or nothing was charged.
    if Self.isOver(transaction, for: order) { return false }
    if transaction.accountToken == order.accountToken { return hasOrdersToken }
    if boundTo != nil || isTakenBefore && isSettled { return true }
    // With another token than the order's, a payment after the order is new: an app's own token was in it.
    if transaction.accountToken != nil { return transaction.purchasedAt < order.createdAt }
    // Without a token only the times decide.
    return isOlder(by: MatchWindow().toleranceMilliseconds)
  }

  /// With a token for each account, an earlier purchase of the account has it, too.
  private var hasOrdersToken: Bool {
    if isTakenBefore, isSettled || boundTo != nil { return true }
    let window = MatchWindow()
    return isOlder(by: isTokenShared ? window.toleranceMilliseconds : window.tokenToleranceMilliseconds)
  }

  private func isOlder(by tolerance: Int64) -> Bool {
    !isDeviceMade && transaction.purchasedAt.adding(milliseconds: tolerance) < order.createdAt
  }

  /// Whether the store has answered the payment of an order with something that gave nothing any more when the order was
  /// made: a period that was over, a refund, or a plan that was replaced. Some systems do (purchases-ios#6374).
  static func isOver(_ transaction: StoreTransaction, for order: PurchaseOrder) -> Bool {
    // A guest's token is of one payment, whatever the device's clock says.
    if order.accountToken.isGuest, transaction.accountToken == order.accountToken { return false }
    if transaction.revokedAt != nil || transaction.isUpgraded == true { return true }
    return transaction.expiresAt.map { $0 <= order.createdAt } ?? false
  }

  /// Whether a listed transaction is the payment of the order: it has the order's token. That may be its account's, so an
  /// earlier purchase does not count. A guest's token is of one payment.
  static func isNew(_ transaction: StoreTransaction, of order: PurchaseOrder) -> Bool {
    guard transaction.accountToken == order.accountToken else { return false }
    if order.accountToken.isGuest { return true }
    let paid = transaction.purchasedAt.adding(milliseconds: MatchWindow().toleranceMilliseconds)
    return transaction.productID == order.productID && transaction.quantity == order.quantity
      && paid >= order.createdAt && !isOver(transaction, for: order)
  }

  /// When the order's plan begins, if the store has answered its payment with another plan of the group that runs until
  /// then: nothing was charged, and the next renewal is of the order's plan. Nil for every other answer.
  static func change(_ transaction: StoreTransaction, answering order: PurchaseOrder) -> Timestamp? {
    guard transaction.productID != order.productID,
      transaction.accountToken != order.accountToken || transaction.purchasedAt < order.createdAt,
      transaction.subscriptionGroupID != nil, !isOver(transaction, for: order)
    else { return nil }
    return transaction.expiresAt
  }
}

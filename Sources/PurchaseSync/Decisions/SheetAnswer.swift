import PurchaseQueue

/// The transaction with which the store has answered the payment of an order.
///
/// ```
///                       the journal has the order, and what is known or the clocks
///                       say that the transaction was made before it
///             ┌──────────────────────────────────────────────▶ earlier   (its outcome is the order's, too)
///   answer ───┤ it gave nothing any more when the order was made
///             ├──────────────────────────────────────────────▶ over      (the order's own is still to come, if any)
///             │ otherwise
///             └──────────────────────────────────────────────▶ payment   (it is bound to the order; if it cannot be,
///                                                                         it counts as earlier)
/// ```
struct SheetAnswer {
  enum Kind: Hashable { case payment, earlier, over }

  var transaction: StoreTransaction
  /// As the sheet got it.
  var order: PurchaseOrder
  /// The order in the journal; nil if it is not there.
  var known: OrderRow?
  /// The order that the transaction is bound to; nil if it is bound to none.
  var boundTo: String?
  /// Whether the transaction did not come after this process handed out the order.
  var isTakenBefore = false
  /// Whether the transaction is settled.
  var isSettled = false
  /// Other orders have the token of the order: it is the account's.
  var isTokenShared = false

  var kind: Kind {
    if let known, known.boundTo != transaction.key, isEarlier(than: known) { return .earlier }
    return Self.isOver(transaction, for: order) ? .over : .payment
  }

  /// What is known counts before what the clocks say.
  private func isEarlier(than known: OrderRow) -> Bool {
    if boundTo == known.order.number { return false }
    // What is over answers no payment: the order's own transaction is still to come, or nothing was charged.
    if Self.isOver(transaction, for: known.order) { return false }
    // What another person has paid is no payment, whenever it was made.
    if transaction.isOfAnotherPayer { return true }
    if transaction.accountToken == known.order.accountToken { return hasAccountsToken(known) }
    if boundTo != nil || isTakenBefore && isSettled { return true }
    // With another token than the order's, a payment after the order is new: an app's own token was in it.
    if transaction.accountToken != nil { return transaction.purchasedAt < known.order.createdAt }
    // Without a token only the times decide.
    return isOlder(than: known, by: MatchWindow().toleranceMilliseconds)
  }

  /// With a token for each account, an earlier purchase of the account has it, too.
  private func hasAccountsToken(_ known: OrderRow) -> Bool {
    if isTakenBefore, isSettled || boundTo != nil { return true }
    let window = MatchWindow()
    return isOlder(
      than: known, by: isTokenShared ? window.toleranceMilliseconds : window.tokenToleranceMilliseconds)
  }

  /// The time of an order that the device made may be that of the device's clock.
  private func isOlder(than known: OrderRow, by tolerance: Int64) -> Bool {
    known.maker != .device
      && transaction.purchasedAt.adding(milliseconds: tolerance) < known.order.createdAt
  }

  /// Whether the store has answered the payment of an order with something that gave nothing any more when the order was
  /// made: a period that was over, a refund, or a plan that was replaced. Some systems do (purchases-ios#6374).
  static func isOver(_ transaction: StoreTransaction, for order: PurchaseOrder) -> Bool {
    // A guest's token is of one payment, whatever the device's clock says.
    if order.accountToken.isGuest, transaction.ownToken == order.accountToken { return false }
    if transaction.isTakenBack || transaction.isUpgraded == true { return true }
    return transaction.expiresAt.map { $0 <= order.createdAt } ?? false
  }

  /// Whether a listed transaction is the payment of the order: it has the order's token. That may be its account's, so an
  /// earlier purchase does not count. A guest's token is of one payment.
  static func isNew(_ transaction: StoreTransaction, of order: PurchaseOrder) -> Bool {
    guard transaction.ownToken == order.accountToken else { return false }
    if order.accountToken.isGuest { return true }
    let paid = transaction.purchasedAt.adding(milliseconds: MatchWindow().toleranceMilliseconds)
    return transaction.agrees(with: order) && paid >= order.createdAt && !isOver(transaction, for: order)
  }

  /// When the order's plan begins, if the store has answered its payment with another plan of the group that runs until
  /// then: nothing was charged, and the next renewal is of the order's plan. Nil for every other answer.
  static func change(_ transaction: StoreTransaction, answering order: PurchaseOrder) -> Timestamp? {
    guard transaction.soldProductID != order.productID,
      transaction.ownToken != order.accountToken || transaction.purchasedAt < order.createdAt,
      transaction.subscriptionGroupID != nil, !isOver(transaction, for: order)
    else { return nil }
    return transaction.expiresAt
  }
}

extension StoreTransaction {
  /// Whether it is for what the order is for.
  func agrees(with order: PurchaseOrder) -> Bool { OrderFacts(order).agrees(with: self) }
}

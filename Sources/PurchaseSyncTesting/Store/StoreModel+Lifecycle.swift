public import AppStoreReceipts
public import PurchaseQueue

/// What happens to a transaction without the app.
extension StoreModel {
  /// Gives the money back. A second refund keeps the first moment; an unknown transaction is refused, and one that was
  /// restored or shared, since nobody paid for it.
  ///
  /// A finished transaction is delivered again for it, until it is finished again. The last period of a subscription,
  /// while it runs, ends with it; an earlier one is only marked (R3.8).
  @discardableResult
  public mutating func refund(
    transactionID: String, reason: RevocationReason = .other, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    advance(to: now)
    let position = try position(of: transactionID)
    guard transactions[position].isCharge else { throw .notCharged(transactionID) }
    guard transactions[position].revokedAt == nil else { return transactions[position] }
    transactions[position].revokedAt = now
    transactions[position].revocationReason = reason
    announce(position)
    let record = transactions[position]
    if record.kind == .consumable { refundedPositions[record.storeAccount, default: []].append(position) }
    if var life = lives[record.originalTransactionID] {
      _ = life.refund(transactionID: transactionID, now: now)
      keep(life)
    }
    note(.refunded, transactionID, now: now)
    revokeShares(of: record, now: now)
    return record
  }

  /// Takes a refund back: the purchase counts again. Nothing happens to one that was not refunded.
  @discardableResult
  public mutating func reverseRefund(
    transactionID: String, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    advance(to: now)
    let position = try position(of: transactionID)
    guard transactions[position].isCharge else { throw .notCharged(transactionID) }
    guard transactions[position].revokedAt != nil else { return transactions[position] }
    transactions[position].revokedAt = nil
    announce(position)
    if var life = lives[transactions[position].originalTransactionID] {
      _ = life.reverseRefund(transactionID: transactionID)
      keep(life)
    }
    restoreShares(of: transactions[position])
    note(.refundReversed, transactionID, now: now)
    return transactions[position]
  }

  /// Somebody asks for a refund, and the store asks the backend what became of the purchase.
  public mutating func requestRefund(transactionID: String, now: Timestamp) throws(StoreModelError) {
    advance(to: now)
    guard transactions[try position(of: transactionID)].isCharge else { throw .notCharged(transactionID) }
    note(.refundRequested, transactionID, now: now)
  }

  /// Replaces a subscription by another product, at once and whatever the levels say: the old period is marked as
  /// upgraded and delivered again, the new one is charged.
  @discardableResult
  public mutating func upgrade(
    transactionID: String, to productID: String, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    advance(to: now)
    let old = transactions[try position(of: transactionID)]
    guard let product = products[productID] else { throw .unknownProduct(productID) }
    guard var life = lives[old.originalTransactionID], let plan = pace.plan(of: product) else {
      throw .noSubscription(transactionID)
    }
    let left = life.unusedPrice(of: life.last, at: now)
    let isLast = life.last.transactionID == transactionID
    life.replace(with: plan, transactionID: nextTransactionID, now: now)
    markUpgraded(transactionID, returning: isLast ? left : 0)
    let record = chargeLast(of: life, cause: .purchase, now: now)
    note(.planChanged(.atOnce), record.transactionID, now: now)
    return record
  }

  /// Charges the next period of a subscription now, without waiting for the end of this one.
  @discardableResult
  public mutating func renew(
    transactionID: String, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    advance(to: now)
    let record = transactions[try position(of: transactionID)]
    guard var life = lives[record.originalTransactionID] else { throw .noSubscription(transactionID) }
    life.renewNow(transactionID: nextTransactionID, now: now)
    let next = chargeLast(of: life, now: now)
    note(.renewed, next.transactionID, now: now)
    return next
  }
}

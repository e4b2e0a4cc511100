public import AppStoreReceipts
public import PurchaseQueue

/// Changes of a transaction that happen outside the app.
extension StoreModel {
  /// Refunds a charge, or a part of it. A second refund keeps the time of the first one: what it changes is the share.
  /// Throws for an unknown transaction, for a restored or shared one, which was not charged, and for a part that it has
  /// not.
  ///
  /// A finished transaction is delivered again until it is finished again. A refund of the last period of a
  /// subscription ends the subscription; an earlier period is only marked (R3.8). A part ends it as well: the customer
  /// gets the price of what is left, and has had the rest. A bundle was paid at once: its other transactions are refunded,
  /// too.
  @discardableResult
  public mutating func refund(
    transactionID: String, _ extent: RefundExtent = .whole, reason: RevocationReason = .other, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    advance(to: now)
    let record = try refundAlone(transactionID, extent, reason, now: now)
    for other in siblings(of: record) where !other.isUpgradedToBundle {
      _ = try refundAlone(other.transactionID, extent, reason, now: now)
    }
    return record
  }

  private mutating func refundAlone(
    _ transactionID: String, _ extent: RefundExtent, _ reason: RevocationReason, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    let position = try position(of: transactionID)
    let before = transactions[position]
    guard before.isCharge else { throw .notCharged(transactionID) }
    let share = try extent.share(of: before, at: now)
    guard before.revokedAt == nil || before.refundedShare != share else { return before }
    amend(position) { record in
      record.revokedAt = before.revokedAt ?? now
      record.refundedShare = share
      record.revocationReason = reason
    }
    announce(position)
    let record = transactions[position]
    // A period of several transactions ends when all of them are refunded.
    let isOver = record.expiresAt == nil || payments(ofPeriodOf: record).allSatisfy { $0.revokedAt != nil }
    if var subscription = subscriptions[record.originalTransactionID], isOver {
      _ = subscription.refund(transactionID: first(ofPeriodOf: record).transactionID, now: now)
      keep(subscription)
    }
    note(.refunded, transactionID, now: now)
    if !isOver {
      fitSeats(of: record, now: now)
    } else if record.isTakenBack {
      revokeShares(of: record, now: now)
    } else if before.isTakenBack {
      restoreShares(of: record)
    }
    return record
  }

  /// Reverses a refund: the purchase is valid again. A purchase that was not refunded does not change.
  @discardableResult
  public mutating func reverseRefund(
    transactionID: String, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    advance(to: now)
    let record = try reverseRefundAlone(transactionID, now: now)
    for other in siblings(of: record) { _ = try reverseRefundAlone(other.transactionID, now: now) }
    return record
  }

  private mutating func reverseRefundAlone(
    _ transactionID: String, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    let position = try position(of: transactionID)
    guard transactions[position].isCharge else { throw .notCharged(transactionID) }
    guard transactions[position].revokedAt != nil || transactions[position].revokedSeats > 0,
      !transactions[position].isUpgradedToBundle
    else { return transactions[position] }
    amend(position) { ($0.revokedAt, $0.refundedShare, $0.revokedSeats) = (nil, nil, 0) }
    announce(position)
    if var subscription = subscriptions[transactions[position].originalTransactionID] {
      _ = subscription.reverseRefund(
        transactionID: first(ofPeriodOf: transactions[position]).transactionID)
      keep(subscription)
    }
    restoreShares(of: transactions[position])
    note(.refundReversed, transactionID, now: now)
    return transactions[position]
  }

  /// Records that the customer asks for a refund: the store asks the backend how the purchase was used.
  public mutating func requestRefund(transactionID: String, now: Timestamp) throws(StoreModelError) {
    advance(to: now)
    guard transactions[try position(of: transactionID)].isCharge else { throw .notCharged(transactionID) }
    note(.refundRequested, transactionID, now: now)
  }

  /// Records that the store refuses to refund a purchase.
  public mutating func declineRefund(transactionID: String, now: Timestamp) throws(StoreModelError) {
    advance(to: now)
    guard transactions[try position(of: transactionID)].isCharge else {
      throw .notCharged(transactionID)
    }
    note(.refundDeclined, transactionID, now: now)
  }

  /// Replaces a subscription by another product at once, regardless of the levels. The old period is marked as upgraded
  /// and delivered again, and the new one is charged.
  @discardableResult
  public mutating func upgrade(
    transactionID: String, to productID: String, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    advance(to: now)
    let old = transactions[try position(of: transactionID)]
    guard let product = products[productID] else { throw .unknownProduct(productID) }
    guard var subscription = subscriptions[old.originalTransactionID], let plan = pace.plan(of: product)
    else {
      throw .noSubscription(transactionID)
    }
    let left = subscription.unusedPrice(of: subscription.last, at: now)
    let isLast = subscription.last.transactionID == transactionID
    subscription.replace(with: plan, transactionID: nextTransactionID, now: now)
    markUpgraded(transactionID, returning: isLast ? left : 0)
    let record = chargeLast(of: subscription, cause: .purchase, now: now)
    note(.planChanged(.atOnce), record.transactionID, now: now)
    return record
  }

  /// Charges the next period of a subscription now, before this one ends.
  @discardableResult
  public mutating func renew(
    transactionID: String, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    advance(to: now)
    let record = transactions[try position(of: transactionID)]
    guard var subscription = subscriptions[record.originalTransactionID] else {
      throw .noSubscription(transactionID)
    }
    subscription.renewNow(transactionID: nextTransactionID, now: now)
    let next = chargeLast(of: subscription, now: now)
    note(.renewed, next.transactionID, now: now)
    return next
  }
}

public import PurchaseQueue

/// What happens to a transaction without the app.
extension StoreModel {
  /// Gives the money back. A second refund keeps the first moment; an unknown transaction is refused.
  ///
  /// A finished transaction is delivered again for it, until it is finished again.
  @discardableResult
  public mutating func refund(
    transactionID: String, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    let position = try position(of: transactionID)
    if charges[position].revokedAt == nil {
      charges[position].revokedAt = now
      announce(position)
    }
    return charges[position]
  }

  /// Replaces a subscription by another product of its group, at once: the old period is marked as upgraded and
  /// delivered again, the new one is charged.
  @discardableResult
  public mutating func upgrade(
    transactionID: String, to productID: String, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    let position = try position(of: transactionID)
    let record = try prolong(charges[position], with: productID, now: now)
    charges[position].isUpgraded = true
    announce(position)
    return record
  }

  /// Charges the next period of a subscription.
  @discardableResult
  public mutating func renew(
    transactionID: String, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    let record = charges[try position(of: transactionID)]
    return try prolong(record, with: record.productID, now: now)
  }

  private mutating func prolong(
    _ record: StoreTransactionRecord, with productID: String, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    guard let product = products[productID] else { throw .unknownProduct(productID) }
    guard record.kind == .autoRenewable, product.kind == .autoRenewable else {
      throw .noSubscription(record.transactionID)
    }
    let next = charge(
      product, quantity: 1, accountToken: record.accountToken, storeAccount: record.storeAccount,
      original: record.originalTransactionID, delivery: record.delivery, now: now)
    foreseeReceipt(with: next, now: now)
    return next
  }

  private mutating func announce(_ position: Int) {
    let storeAccount = charges[position].storeAccount
    receiptFiles[storeAccount]?.isStale = true
    guard charges[position].isFinished else { return }
    if announcedPositions[storeAccount]?.contains(position) != true {
      announcedPositions[storeAccount, default: []].append(position)
    }
  }
}

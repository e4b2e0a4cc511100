public import PurchaseQueue

extension StoreModel {
  /// Restores what a store account owns, which asks the person for a password and writes the app receipt anew.
  ///
  /// Each non-consumable comes as a transaction of its own, with the first one's id as its original, and is not charged;
  /// the present period of each subscription comes again as it is. Both stay among the unfinished until they are
  /// finished. Restoring again while one of them waits adds no second one.
  @discardableResult
  public mutating func restore(storeAccount: String?, now: Timestamp) throws(StoreModelError) -> StoreHandover
  {
    prompts += 1
    guard let storeAccount else { throw .noStoreAccount }
    advance(to: now)
    let known = transactions(storeAccount: storeAccount)
    for record in known where record.cause != .restore && record.revokedAt == nil {
      if record.kind == .nonConsumable {
        let waits = known.contains {
          $0.cause == .restore && !$0.isFinished && $0.originalTransactionID == record.originalTransactionID
        }
        guard !waits else { continue }
        var draft = fresh(record)
        draft.originalTransactionID = record.originalTransactionID
        draft.originalPurchasedAt = record.originalPurchasedAt
        draft.purchasedAt = now
        draft.cause = .restore
        draft.price = nil
        append(draft)
      } else if let end = record.expiresAt, end > now, !record.isUpgraded,
        let position = positions[record.transactionID]
      {
        announce(position)
      }
    }
    receiptFiles[storeAccount, default: ReceiptFile(createdAt: now)].isStale = true
    writeReceipt(storeAccount, now: now)
    return listing(storeAccount: storeAccount, now: now)
  }
}

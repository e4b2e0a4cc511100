package import PurchaseQueue

extension StoreModel {
  /// Restores the purchases of a store account, which prompts for a password and writes the app receipt again.
  ///
  /// Each non-consumable is delivered as a new, free transaction whose original is the first one. The present period of
  /// each subscription is delivered again. Both stay unfinished until they are finished. A second restore in the
  /// meantime adds no transaction.
  @discardableResult
  package mutating func restore(storeAccount: String?, now: Timestamp) throws(StoreModelError)
    -> StoreHandover
  {
    prompts += 1
    guard let storeAccount else { throw .noStoreAccount }
    advance(to: now)
    let known = transactions(storeAccount: storeAccount)
    for record in known where record.cause != .restore && !record.isTakenBack {
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
        let position = log.positions[record.transactionID]
      {
        announce(position)
      }
    }
    receiptFiles[storeAccount, default: ReceiptFile(createdAt: now)].isStale = true
    writeReceipt(storeAccount, now: now)
    return listing(storeAccount: storeAccount, now: now)
  }
}

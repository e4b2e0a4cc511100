import Foundation
package import PurchaseQueue
package import PurchaseSync

extension StoreModel {
  /// Signs a store account in on a device, in place of the previous one; nil signs out.
  public mutating func signIn(device: String, storeAccount: String?) { devices[device] = storeAccount }

  /// The transactions that are delivered again to this store account, in order of purchase, refunded ones included.
  ///
  /// They include finished ones that were refunded or upgraded since, until they are finished again.
  public func unfinished(storeAccount: String) -> [StoreTransactionRecord] {
    let announced = announcedPositions[storeAccount] ?? []
    let unfinished = log.unfinished[storeAccount] ?? []
    guard !announced.isEmpty else { return unfinished.map { transactions[$0] } }
    return (unfinished + announced).sorted().map { transactions[$0] }
  }

  /// The listing for a launch of an app; empty without a signed-in account.
  ///
  /// `launch` identifies the run of the app; nil counts as a run that did not pay. The listing counts as a reading of the app
  /// receipt if a transaction has no other proof.
  package mutating func listing(
    storeAccount: String?, launch: String? = nil, now: Timestamp
  ) -> StoreHandover {
    guard let storeAccount else { return StoreHandover(storeAccount: nil, transactions: [], receipt: nil) }
    advance(to: now)
    let records =
      faults.listsFinished
      ? transactions(storeAccount: storeAccount) : unfinished(storeAccount: storeAccount)
    return handover(
      Array(repeating: records, count: max(1, faults.listingCopies)).flatMap { $0 }, to: storeAccount,
      launch: launch, now: now)
  }

  /// Delivers these transactions to an app, each once per proof of its delivery.
  package mutating func handover(
    _ records: [StoreTransactionRecord], to storeAccount: String, launch: String? = nil, now: Timestamp
  ) -> StoreHandover {
    var transactions: [DeliveredTransaction] = []
    for record in records {
      for kind in record.delivery.proofs {
        transactions.append(deliver(record, by: kind, launch: launch, now: now))
      }
    }
    let needsReceipt = transactions.contains { $0.proofKind == .appReceipt }
    return StoreHandover(
      storeAccount: storeAccount, transactions: transactions,
      receipt: needsReceipt ? receipt(storeAccount: storeAccount, now: now).map { Data($0) } : nil)
  }

  private mutating func deliver(
    _ record: StoreTransactionRecord, by kind: ProofKind, launch: String?, now: Timestamp
  ) -> DeliveredTransaction {
    var proof: String?
    if kind == .signedTransaction {
      proof = signer.signedTransaction(record, signedAt: now)
    } else if kind == .transactionReceipt {
      let bytes = forge.transactionReceipt(of: record)
      issued.insert(bytes)
      proof = Data(bytes).base64EncodedString()
    }
    let isSameLaunch = launch != nil && payingLaunches[record.transactionID] == launch
    let keepsToken = kind == .signedTransaction || !record.delivery.forgetsToken || isSameLaunch
    return DeliveredTransaction(
      transactionID: record.transactionID, originalTransactionID: record.originalTransactionID,
      environment: record.environment, productID: record.productID, quantity: record.quantity,
      purchasedAt: record.purchasedAt, accountToken: keepsToken ? record.accountToken : nil, proofKind: kind,
      proof: proof, isVerified: kind != .signedTransaction || !record.delivery.isUnverified)
  }

  /// Ends the redelivery of a transaction. A second call changes nothing; an unknown id throws.
  package mutating func finish(
    transactionID: String, by finisher: StoreTransactionRecord.Finisher = .app, at now: Timestamp? = nil
  ) throws(StoreModelError) {
    let position = try position(of: transactionID)
    let storeAccount = transactions[position].storeAccount
    amend(position) { record in
      // The first one counts: a later call changes nothing.
      if !record.isFinished { (record.finishedAt, record.finisher) = (now, finisher) }
      record.isFinished = true
    }
    if announcedPositions[storeAccount]?.contains(position) == true {
      announcedPositions[storeAccount]?.removeAll { $0 == position }
    }
    // The consumable leaves the receipt when the file is written next.
    if receiptFiles[storeAccount]?.isStale == false { receiptFiles[storeAccount]?.isStale = true }
  }

  /// Ends the redelivery of a transaction of the signed-in store account. For other and unknown transactions:
  /// `notListed`.
  package mutating func finish(
    transactionID: String, as storeAccount: String?, at now: Timestamp? = nil
  ) -> FinishResult {
    guard let position = log.positions[transactionID], transactions[position].storeAccount == storeAccount
    else {
      return .notListed
    }
    if faults.forgetsFinished, !isListed(position) { return .notListed }
    do throws(StoreModelError) {
      try finish(transactionID: transactionID, at: now)
    } catch {
      return .notListed
    }
    return .finished
  }

  private func isListed(_ position: Int) -> Bool {
    !transactions[position].isFinished
      || announcedPositions[transactions[position].storeAccount]?.contains(position) == true
  }
}

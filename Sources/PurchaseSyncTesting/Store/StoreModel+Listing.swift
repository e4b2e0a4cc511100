import Foundation
public import PurchaseQueue
public import PurchaseSync

extension StoreModel {
  /// Signs a store account in on a device, in place of whoever was; nil signs out.
  public mutating func signIn(device: String, storeAccount: String?) { signedIn[device] = storeAccount }

  /// What this store account would be delivered again, in order of purchase; a refund takes nothing out.
  ///
  /// Also what was finished before, and refunded or upgraded since, until it is finished again.
  public func unfinished(storeAccount: String) -> [StoreTransactionRecord] {
    let announced = announcedPositions[storeAccount] ?? []
    let unfinished = unfinishedPositions[storeAccount] ?? []
    guard !announced.isEmpty else { return unfinished.map { transactions[$0] } }
    return (unfinished + announced).sorted().map { transactions[$0] }
  }

  /// The listing as a launch of an app gets it; nobody signed in, nothing listed.
  ///
  /// `launch` is the run of the app that asks; nil counts as another than the one that paid. Counts as a reading of
  /// the app receipt if a transaction has no other proof.
  public mutating func listing(
    storeAccount: String?, launch: String? = nil, now: Timestamp
  ) -> StoreHandover {
    guard let storeAccount else { return StoreHandover(storeAccount: nil, transactions: [], receipt: nil) }
    advance(to: now)
    let records = unfinished(storeAccount: storeAccount)
    return handover(
      Array(repeating: records, count: max(1, faults.listingCopies)).flatMap { $0 }, to: storeAccount,
      launch: launch, now: now)
  }

  /// These transactions as they arrive at an app, each once for every proof of its delivery.
  public mutating func handover(
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
      receipt: needsReceipt ? receipt(storeAccount: storeAccount, now: now) : nil)
  }

  private mutating func deliver(
    _ record: StoreTransactionRecord, by kind: ProofKind, launch: String?, now: Timestamp
  ) -> DeliveredTransaction {
    var proof: String?
    if kind == .signedTransaction {
      proof = forge.signedTransaction(record, signedAt: now)
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

  /// Ends redelivery. Finishing twice changes nothing; an unknown transaction is refused.
  public mutating func finish(transactionID: String) throws(StoreModelError) {
    let position = try position(of: transactionID)
    let storeAccount = transactions[position].storeAccount
    transactions[position].isFinished = true
    unfinishedPositions[storeAccount]?.removeAll { $0 == position }
    announcedPositions[storeAccount]?.removeAll { $0 == position }
    // Only the next time that the file is written, the consumable is out of it.
    receiptFiles[storeAccount]?.isStale = true
  }

  /// Ends redelivery in the name of whoever is signed in. What is not theirs, or not known, is not listed for them.
  public mutating func finish(transactionID: String, as storeAccount: String?) -> FinishResult {
    guard let position = positions[transactionID], transactions[position].storeAccount == storeAccount else {
      return .notListed
    }
    if faults.forgetsFinished, !isListed(position) { return .notListed }
    do throws(StoreModelError) {
      try finish(transactionID: transactionID)
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

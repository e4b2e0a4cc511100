import AppStoreReceipts
public import PurchaseQueue
import PurchaseSync

extension StoreModel: ReceiptVerifier {
  /// As `verifyReceipt` answers: with the subscriptions of a receipt comes all that is known of them, also what
  /// happened after the receipt was written (R2.3).
  public func answer(to query: VerificationQuery, now: Timestamp) -> StoreAnswer {
    answer(verify(query, now: now), to: query, now: now)
  }

  /// The same, to what the store said already.
  func answer(_ verification: StoreVerification, to query: VerificationQuery, now: Timestamp) -> StoreAnswer {
    var answer = StoreAnswer(verification, at: now.milliseconds)
    guard case .proof(let proof) = query, proof.kind != .signedTransaction, var report = answer.report else {
      return answer
    }
    var held = Set(report.transactions.map(\.transactionID))
    var asked: Set<ChainKey> = []
    for transaction in report.transactions where transaction.expiresDate != nil {
      let chain = ChainKey(transaction)
      guard asked.insert(chain).inserted else { continue }
      let history = verify(
        .subscription(
          environment: chain.environment.rawValue, originalTransactionID: chain.originalTransactionID),
        now: now)
      for period in StoreAnswer(history, at: now.milliseconds).report?.transactions ?? [] {
        if held.insert(period.transactionID).inserted { report.transactions.append(period) }
      }
    }
    answer.outcome = .genuine(report)
    return answer
  }
}

import AppStoreDocuments
import AppStoreReceipts
package import PurchaseQueue
import PurchaseSync

extension StoreModel: ReceiptVerifier {
  /// Answers as `verifyReceipt` does: with all known facts of a receipt's subscriptions, also from after the receipt
  /// was written (R2.3).
  package func answer(to query: VerificationQuery, now: Timestamp) -> StoreAnswer {
    answer(verify(query, now: now), to: query, now: now)
  }

  /// The same, to what the store said already.
  func answer(_ verification: StoreVerification, to query: VerificationQuery, now: Timestamp) -> StoreAnswer {
    var answer = StoreAnswer(verification, at: now.milliseconds)
    guard var report = answer.report else { return answer }
    switch query {
    case .proof(let proof) where proof.kind != .signedTransaction:
      complete(&report, now: now)
      answer.outcome = .genuine(report)
      return answer.completingRefunds { StoreAnswer(verify($0, now: now), at: now.milliseconds) }
    case .subscription(let environment, let original):
      let chain = ChainKey(
        environment: StoreEnvironment(rawValue: environment), originalTransactionID: original)
      report.renewals += renewals([chain], now: now)
    case .proof, .transaction: break
    }
    answer.outcome = .genuine(report)
    return answer
  }

  private func complete(_ report: inout StoreReport, now: Timestamp) {
    var held = Set(report.transactions.map(\.transactionID))
    let chains = Set(report.transactions.filter { $0.expiresDate != nil }.map(ChainKey.init)).sorted()
    for chain in chains {
      let history = verify(
        .subscription(
          environment: chain.environment.rawValue, originalTransactionID: chain.originalTransactionID),
        now: now)
      for period in StoreAnswer(history, at: now.milliseconds).report?.transactions ?? [] {
        if held.insert(period.transactionID).inserted { report.transactions.append(period) }
      }
    }
    report.renewals += renewals(chains, now: now)
  }

  /// The content of `pending_renewal_info` for these subscriptions.
  private func renewals(_ chains: [ChainKey], now: Timestamp) -> [ChainRenewal] {
    let forge = VerifyReceiptForge(bundleID: forge.bundleID, environment: environment)
    return chains.compactMap { chain in
      guard let forged = renewal(of: chain.originalTransactionID) else { return nil }
      do throws(ReceiptDecodingError) {
        let pending = try PendingRenewal(forge.pendingRenewal(forged))
        return ChainRenewal(
          chain: chain, renewal: SubscriptionRenewal(pending), toldAt: now.milliseconds)
      } catch {
        return nil
      }
    }
  }
}

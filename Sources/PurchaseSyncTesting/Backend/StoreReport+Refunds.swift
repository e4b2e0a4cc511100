import AppStoreReceipts

extension StoreAnswer {
  /// The answer of `verifyReceipt`, with how much of each purchase is refunded: a receipt has a date and no share, so the
  /// store is asked for each such transaction by its id. Without that answer nothing is known yet: a part that counts as
  /// the whole would take back what is paid.
  func completingRefunds(_ ask: (VerificationQuery) -> StoreAnswer) -> StoreAnswer {
    guard case .genuine(var report) = outcome else { return self }
    for (index, told) in report.transactions.enumerated() {
      // A refunded period is over, whatever the share is.
      guard told.revocationDate != nil, told.refundedShare == nil, told.expiresDate == nil else { continue }
      let answer = ask(
        .transaction(environment: told.environment.rawValue, id: told.transactionID))
      switch answer.outcome {
      case .unavailable, .unsigned, .doubtful, .misconfigured:
        return StoreAnswer(.unavailable, status: status)
      case .genuine(let known):
        guard let same = known.transactions.first(where: { $0.transactionID == told.transactionID }) else {
          continue
        }
        report.transactions[index] = told.merged(with: same)
      case .forged, .malformed, .refused, .notFound: continue
      }
    }
    var completed = self
    completed.outcome = .genuine(report)
    return completed
  }
}

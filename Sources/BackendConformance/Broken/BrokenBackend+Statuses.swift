import AppStoreReceipts
import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  /// Bugs about the statuses of `verifyReceipt`, and about what its answers hold.
  static let statuses: [BrokenBackend] =
    StatusRule.all.map { rule in
      BrokenBackend(
        "status-\(rule.status)-\(rule.isFinal ? "waits" : "rejects")",
        "a receipt with the status \(rule.words) is \(rule.isFinal ? "pending for ever" : "rejected")",
        hooks: BrokenHooks(hears: { answer, _, _, _, _ in
          guard answer.statusNumber == rule.status else { return }
          answer.outcome = rule.isFinal ? .unavailable : .refused
        }))
    } + [
      BrokenBackend(
        "status-21002-rejects", "the first 21002 is rejected",
        hooks: BrokenHooks(hears: { answer, _, _, _, _ in
          if case .doubtful = answer.outcome { answer.outcome = .malformed }
        })),
      BrokenBackend(
        "status-21002-waits", "a receipt that is always 21002 is pending for ever",
        hooks: BrokenHooks(hears: { answer, _, _, _, _ in
          if case .doubtful = answer.outcome { answer.outcome = .unavailable }
        })),
      counting("status-21002-adds", "the count of 21002 is never started again", startsAgain: false),
      counting(
        "status-21002-shared", "the 21002 about a claim are counted for all senders together",
        startsAgain: true),
      BrokenBackend(
        "status-21006-rejects", "a receipt with the status 21006 is rejected",
        hooks: BrokenHooks(hears: { answer, _, _, _, _ in
          if answer.statusNumber == 21006 { answer.outcome = .refused }
        })),
      BrokenBackend(
        "old-receipts-malformed", "the receipt of one transaction is taken for malformed",
        hooks: BrokenHooks(hears: { answer, query, _, _, _ in
          if query.document?.kind == .transactionReceipt { answer.outcome = .malformed }
        })),
      BrokenBackend(
        "in-app-only", "of the store's answer about a receipt only in_app is read",
        hooks: BrokenHooks(hears: { answer, query, _, _, _ in
          guard let receipt = appReceipt(query), var report = answer.report else { return }
          let ids = Set(receipt.inApp.map(\.transactionID))
          report.transactions.removeAll { !ids.contains($0.transactionID) }
          answer.outcome = .genuine(report)
        })),
      BrokenBackend(
        "facts-cached", "the store's answer about a receipt is kept by the bytes of the receipt",
        hooks: BrokenHooks(hears: { answer, query, _, mock, _ in
          guard appReceipt(query) != nil, answer.report != nil, let bytes = query.document?.data else {
            return
          }
          answer = mock.brokenMemory.answers[bytes] ?? answer
          mock.brokenMemory.answers[bytes] = answer
        })),
    ]

  /// Counts the 21002 of each claim, from all senders together.
  private static func counting(_ name: String, _ summary: String, startsAgain: Bool) -> BrokenBackend {
    BrokenBackend(
      name, summary,
      hooks: BrokenHooks(hears: { answer, _, claims, mock, _ in
        guard let id = claims.first?.transactionID else { return }
        guard case .doubtful = answer.outcome else {
          if startsAgain { mock.brokenMemory.counts["doubts " + id] = nil }
          return
        }
        mock.brokenMemory.counts["doubts " + id, default: 0] += 1
        if mock.brokenMemory.counts["doubts " + id, default: 0] >= 4 { answer.outcome = .malformed }
      }))
  }
}

import AppStoreReceipts
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  /// Bugs about the grace after a failed charge.
  static let graces: [BrokenBackend] = [
    renewing("grace-of-16-days", "each grace lasts 16 days") { told, _, facts in
      guard told.graceEndsAt != nil, let end = facts.expiresDate else { return }
      told.graceEndsAt = end + 16 * 86_400_000
    },
    renewing("grace-longest", "the longest grace of all renewal infos counts") { told, known, _ in
      let ends = [told, known].compactMap { $0?.graceEndsAt }
      told.graceEndsAt = ends.max()
    },
    renewing("grace-by-arrival", "the renewal info that comes last counts, however old it is") {
      told, known, _ in
      let toldAt = max(told.toldAt, (known?.toldAt ?? .min) + 1)
      told = ChainRenewal(chain: told.chain, renewal: told.renewal, toldAt: toldAt)
    },
    BrokenBackend(
      "grace-of-all", "the grace is of each period of the subscription",
      hooks: changingFacts { facts, mock, now in
        let grace = model(mock)?.renewals[ChainKey(facts)]?.graceEndsAt
        guard let end = facts.expiresDate, end <= now.milliseconds, let grace, grace > now.milliseconds else {
          return
        }
        facts.expiresDate = grace
      }),
  ]

  /// Changes the renewal infos of notifications. `change` gets the one that is known, too, and the transaction.
  private static func renewing(
    _ name: String, _ summary: String,
    _ change: @escaping @Sendable (inout ChainRenewal, ChainRenewal?, VerifiedTransaction) -> Void
  ) -> BrokenBackend {
    BrokenBackend(
      name, summary,
      hooks: BrokenHooks(before: { mock, call in
        guard let notice = try notice(in: call, mock) else { return nil }
        var lessons = notice.lessons
        for index in lessons.indices {
          guard var report = lessons[index].answer.report, let facts = report.transactions.first else {
            continue
          }
          for place in report.renewals.indices {
            let known = try mock.backend.model().renewals[report.renewals[place].chain]
            change(&report.renewals[place], known, facts)
          }
          lessons[index].answer.outcome = .genuine(report)
        }
        guard lessons != notice.lessons else { return nil }
        try mock.backend.change {
          $0.learn(lessons, source: .notification(notice.type), now: call.now)
        }
        return try JSONBody.response(EmptyDocument())
      }))
  }
}

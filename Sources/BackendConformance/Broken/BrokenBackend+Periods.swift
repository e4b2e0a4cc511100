import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  /// Bugs about when a period ends, and what ends it.
  static let periods: [BrokenBackend] = [
    BrokenBackend(
      "refund-ends-chain", "the refund of a period ends the whole subscription",
      hooks: BrokenHooks(verdicts: { mock, reply, call, _ in
        for verdict in reply.verdicts where verdict.verdict == .refunded {
          try write(mock) { model in
            guard let row = model.purchases.last(where: { $0.facts.transactionID == verdict.transactionID }),
              row.facts.expiresDate != nil
            else { return [] }
            return model.periods(of: ChainKey(row.facts)).map {
              .reversal(Reversal(transaction: $0.transaction, at: call.now))
            }
          }
        }
      })),
    BrokenBackend(
      "ends-an-hour-late", "a period ends an hour late",
      hooks: changingFacts { facts, _, now in
        guard let end = facts.expiresDate, end <= now.milliseconds, end + 3_600_000 > now.milliseconds else {
          return
        }
        facts.expiresDate = end + 3_600_000
      }),
    BrokenBackend(
      "ends-an-hour-early", "a period ends an hour early",
      hooks: changingFacts { facts, _, now in
        guard let end = facts.expiresDate, end > now.milliseconds, end - 3_600_000 <= now.milliseconds else {
          return
        }
        facts.expiresDate = end - 3_600_000
      }),
    BrokenBackend(
      "ends-by-signed-date", "a period counts if it ran when its proof was signed",
      hooks: BrokenHooks(hears: { answer, query, _, _, now in
        guard var report = answer.report,
          let payload = query.document.flatMap({ JWSText.payload(of: $0.data) }),
          case .integer(let signed)? = payload["signedDate"]
        else { return }
        for index in report.transactions.indices {
          guard let end = report.transactions[index].expiresDate, end > signed, end <= now.milliseconds else {
            continue
          }
          report.transactions[index].expiresDate = now.milliseconds + 86_400_000
        }
        answer.outcome = .genuine(report)
      })),
    BrokenBackend(
      "lapsed-tells-order", "the verdict of a period that is over names the order of its account",
      hooks: BrokenHooks(verdicts: { mock, reply, _, _ in
        for index in reply.verdicts.indices where reply.verdicts[index].verdict == .lapsed {
          let id = reply.verdicts[index].transactionID
          let facts = try mock.backend.model().purchases.last { $0.facts.transactionID == id }?.facts
          reply.verdicts[index].orderNumber = facts.flatMap { order(of: $0, mock)?.number }
        }
      })),
    BrokenBackend(
      "grace-ignored", "a period whose charge failed is over at its end, whatever grace it has",
      hooks: BrokenHooks(verdicts: { mock, reply, call, _ in
        for index in reply.verdicts.indices where reply.verdicts[index].verdict == .granted {
          let id = reply.verdicts[index].transactionID
          guard let line = credit(of: id, mock), let end = line.expiresAt, end <= call.now else { continue }
          try write(mock) { _ in [.reversal(Reversal(transaction: line.transaction, at: call.now))] }
          reply.verdicts[index].verdict = .lapsed
        }
      })),
    BrokenBackend(
      "grace-for-ever", "a period whose charge failed goes on for a year",
      hooks: changingFacts { facts, mock, now in
        guard let end = facts.expiresDate, end <= now.milliseconds,
          model(mock)?.renewals[ChainKey(facts)] != nil
        else { return }
        facts.expiresDate = end + 365 * 86_400_000
      }),
    BrokenBackend(
      "cancelled-upgrade-kept", "the refund of an upgrade is ignored",
      hooks: changingFacts { facts, _, _ in
        if isLater(facts), facts.reason == .purchase, facts.bundle == nil, facts.appAccountToken == nil {
          facts.revocationDate = nil
        }
      }),
    BrokenBackend(
      "upgrade-as-refund", "the rest of a replaced plan's price is taken for a refund",
      hooks: changingFacts { facts, _, _ in
        if facts.isUpgraded, facts.revocationDate != nil, facts.refundedShare != nil {
          facts.refundedShare = nil
        }
      }),
  ]
}

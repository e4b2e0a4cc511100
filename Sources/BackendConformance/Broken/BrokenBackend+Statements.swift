import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  /// Bugs about what the fields of a refund say.
  static let statements: [BrokenBackend] = [
    reading("refund-full-by-share", "of a REFUND_FULL with a share only that share is taken back") {
      facts, said in
      guard said["revocationType"]?.string == "REFUND_FULL" else { return }
      facts.refundedShare = share(in: said) ?? facts.refundedShare
    },
    reading("refund-needs-share", "a revocationDate without a share and a type takes nothing back") {
      facts, said in
      let fields = ["revocationPercentage", "revocationType"]
      let isBare = said["revocationDate"] != nil && fields.allSatisfy { said[$0] == nil }
      if isBare, facts.expiresDate == nil { facts.revocationDate = nil }
    },
    reading("refund-by-share", "a share without a revocationDate is taken back") { facts, said in
      guard said["revocationDate"] == nil, let share = share(in: said) else { return }
      (facts.revocationDate, facts.refundedShare) = (facts.toldAt, share)
    },
    BrokenBackend(
      "refund-share-clamped", "a share below 0 counts as 0, and one above 100,000 as all of it",
      hooks: BrokenHooks(hears: { answer, query, _, _, now in
        guard let payload = query.document.flatMap({ JWSText.payload(of: $0.data) }),
          case .integer(let share)? = payload["revocationPercentage"], !(0...100_000 ~= share)
        else { return }
        let right = ConformanceLab.with(
          payload, "revocationPercentage", .integer(min(max(share, 0), 100_000)))
        believe(right, in: &answer, now: now)
      })),
    reading("refund-rounds-up", "a unit is taken back if any part of its price was refunded") { facts, said in
      guard facts.expiresDate == nil, said["revocationType"]?.string == "REFUND_PRORATED",
        let share = share(in: said), share < .whole
      else { return }
      let units = (share.milliPercent * facts.quantity + 99_999) / 100_000
      facts.refundedShare = RefundedShare(units: units, of: facts.quantity)
    },
    reading("small-refund-keeps-period", "a refund of a few percent of a period does not end it") {
      facts, said in
      guard facts.expiresDate != nil, let share = share(in: said), share.milliPercent < 10_000 else { return }
      facts.revocationDate = nil
    },
    BrokenBackend(
      "refund-notes-once", "a second REFUND of one transaction is ignored",
      hooks: BrokenHooks(before: { mock, call in
        guard let notice = try notice(in: call, mock), notice.type == "REFUND" else { return nil }
        let times = told(by: notice).map { facts in
          mock.brokenMemory.counts["refund of \(facts.transactionID)", default: 0] += 1
          return mock.brokenMemory.counts["refund of \(facts.transactionID)"] ?? 0
        }
        return times.contains { $0 > 1 } ? try JSONBody.response(EmptyDocument()) : nil
      })),
    reading("revoke-by-share", "of a FAMILY_REVOKE with a share only that share is taken back") {
      facts, said in
      guard said["revocationType"]?.string == "FAMILY_REVOKE" else { return }
      facts.refundedShare = share(in: said) ?? facts.refundedShare
    },
    reading("revoked-shares-kept", "a family's share stays when its payment is refunded") { facts, said in
      if said["revocationType"]?.string == "FAMILY_REVOKE" { facts.revocationDate = nil }
    },
    reading("replaced-refund-as-rest", "any refund of a replaced period is taken for the rest of its price") {
      facts, _ in
      if facts.isUpgraded, facts.isUpgradedToBundle != true { facts.revocationDate = nil }
    },
  ]

  /// Takes the payload of a signed transaction for what the store says.
  static func believe(_ payload: JSONValue, in answer: inout StoreAnswer, now: Timestamp) {
    do throws(ReceiptDecodingError) {
      let signed = try SignedTransaction(payload: payload.data)
      answer.outcome = .genuine(StoreReport([VerifiedTransaction(signed, askedAt: now.milliseconds)]))
    } catch {
      return
    }
  }

  private static func share(in said: JSONValue) -> RefundedShare? {
    guard case .integer(let share)? = said["revocationPercentage"] else { return nil }
    return RefundedShare(milliPercent: share)
  }

  /// Changes the facts of a signed transaction. `change` gets the payload of the proof, too.
  private static func reading(
    _ name: String, _ summary: String,
    _ change: @escaping @Sendable (inout VerifiedTransaction, JSONValue) -> Void
  ) -> BrokenBackend {
    BrokenBackend(
      name, summary,
      hooks: BrokenHooks(hears: { answer, query, _, _, _ in
        guard var report = answer.report, let said = query.document.flatMap({ JWSText.payload(of: $0.data) })
        else { return }
        for index in report.transactions.indices { change(&report.transactions[index], said) }
        answer.outcome = .genuine(report)
      }))
  }
}

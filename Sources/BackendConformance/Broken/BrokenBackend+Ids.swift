import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  /// Bugs about claims without a proof.
  static let ids: [BrokenBackend] = [
    BrokenBackend(
      "ids-unasked", "a claim without a proof is unknownTransaction, whatever the store would say",
      hooks: BrokenHooks(before: { mock, call in
        guard let upload = call.request.upload, !upload.claims.isEmpty,
          upload.claims.allSatisfy({ $0.proof == nil })
        else {
          return nil
        }
        return try all(.unknownTransaction, of: upload, mock)
      })),
    BrokenBackend(
      "ids-to-sender", "an id alone is credited to who sends it",
      hooks: BrokenHooks(before: { mock, call in
        try prove(&mock, in: &call) { answer, _, _ in
          var answer = answer
          guard answer.report != nil else { return nil }
          forget(\.appAccountToken, in: &answer) { _ in true }
          return answer
        }
      })),
    BrokenBackend(
      "ids-always-new", "an id alone that the account has already is unknownTransaction",
      hooks: BrokenHooks(verdicts: { _, reply, call, _ in
        let alone = Set(
          (call.request.upload?.claims ?? []).filter { $0.proof == nil }.map(\.transactionID))
        for index in reply.verdicts.indices where alone.contains(reply.verdicts[index].transactionID) {
          guard reply.verdicts[index].verdict == .duplicate else { continue }
          (reply.verdicts[index].verdict, reply.verdicts[index].owner) = (.unknownTransaction, nil)
        }
      })),
    BrokenBackend(
      "ids-without-chain", "an id alone of a renewal is not looked for in its subscription",
      hooks: BrokenHooks(hears: { answer, query, _, _, _ in
        guard case .transaction = query, var report = answer.report else { return }
        for index in report.transactions.indices {
          report.transactions[index].originalTransactionID = report.transactions[index].transactionID
        }
        answer.outcome = .genuine(report)
      })),
    BrokenBackend(
      "ids-move", "an id alone moves a device's purchase to the account that sends it",
      hooks: BrokenHooks(verdicts: { mock, reply, call, _ in
        let sender = try mock.credentials.sender(of: call.request).uploader
        for verdict in reply.verdicts where verdict.verdict == .otherOwner || !verdict.verdict.isSettled {
          guard let line = credit(of: verdict.transactionID, mock), line.owner.account == nil,
            call.request.upload?.proofs.isEmpty == true, sender.account != nil
          else { continue }
          var moved = line
          moved.owner = sender
          try write(mock) { _ in [.creditMoved(moved)] }
        }
      })),
    telling(.refunded, "ids-tell-refunds", "an id alone of a refunded purchase is told as refunded") {
      facts, _ in facts.isTakenBack
    },
    telling(.lapsed, "ids-tell-ends", "an id alone of a period that is over is told as lapsed") {
      facts, now in facts.expiresDate.map { $0 <= now.milliseconds } ?? false
    },
    BrokenBackend(
      "odd-ids-500", "an id that is no number is answered 500",
      hooks: BrokenHooks(before: { _, call in
        let claims = call.request.upload?.claims ?? []
        guard claims.contains(where: { !$0.transactionID.allSatisfy(\.isNumber) }) else { return nil }
        throw HTTPProblem(status: 500, type: "syntax", title: "Bad query")
      })),
  ]

  /// Tells who only names an id what became of the purchase, if the store's answer is so.
  private static func telling(
    _ word: Verdict, _ name: String, _ summary: String,
    _ isTold: @escaping @Sendable (VerifiedTransaction, Timestamp) -> Bool
  ) -> BrokenBackend {
    BrokenBackend(
      name, summary,
      hooks: BrokenHooks(verdicts: { mock, reply, call, _ in
        let alone = Set((call.request.upload?.claims ?? []).filter { $0.proof == nil }.map(\.transactionID))
        let known = try mock.backend.model().purchases
        for index in reply.verdicts.indices where reply.verdicts[index].verdict == .unknownTransaction {
          let id = reply.verdicts[index].transactionID
          guard alone.contains(id), let row = known.last(where: { $0.facts.transactionID == id }),
            isTold(row.facts, call.now)
          else { continue }
          (reply.verdicts[index].verdict, reply.verdicts[index].owner) = (word, .yours)
        }
      }))
  }
}

import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  /// Bugs about what a type of notification does.
  static let notices: [BrokenBackend] = [
    ignoring("reversal-notes-ignored", "notifications of reversals are ignored", "REFUND_REVERSED"),
    ignoring("revoke-notes-ignored", "notifications of revoked shares are ignored", "REVOKE"),
    BrokenBackend(
      "notes-by-arrival", "the notification that comes last counts, however old it is",
      hooks: BrokenHooks(before: { mock, call in
        guard let notice = try notice(in: call, mock) else { return nil }
        for facts in told(by: notice) where facts.revocationDate != nil && facts.expiresDate == nil {
          try write(mock) { model in
            guard let known = model.purchase(TransactionKey(facts))?.facts, known.toldAt > facts.toldAt,
              known.revocationDate == nil
            else { return [] }
            return [.reversal(Reversal(transaction: TransactionKey(facts), at: call.now))]
          }
        }
        return nil
      })),
    BrokenBackend(
      "refund-by-arrival", "the proof that comes last counts, however old it is",
      hooks: BrokenHooks(hears: { answer, query, _, mock, _ in
        guard var report = answer.report,
          let payload = query.document.flatMap({ JWSText.payload(of: $0.data) }),
          case .integer(let date)? = payload["revocationDate"], payload["revocationPercentage"] == nil,
          payload["expiresDate"] == nil
        else { return }
        for index in report.transactions.indices where report.transactions[index].revocationDate == nil {
          report.transactions[index].revocationDate = date
        }
        answer.outcome = .genuine(report)
      })),
    BrokenBackend(
      "version-1-ignored", "a notification of version 1 is answered 200, and ignored",
      hooks: BrokenHooks(before: { _, call in
        guard isNotification(call), json(of: call)?["notification_type"] != nil else { return nil }
        return try JSONBody.response(EmptyDocument())
      })),
    BrokenBackend(
      "silent-200", "a notification is answered 200 although the store did not answer",
      hooks: BrokenHooks(answers: { response, call, _ in
        if isNotification(call), response.status == 503 { response = try JSONBody.response(EmptyDocument()) }
      })),
    refusing("test-refused", "the store's test notification is refused") { $0 == "TEST" },
    refusing("new-types-refused", "an unknown type of notification is refused") { $0.hasPrefix("A_TYPE") },
    takingBack("declined-as-refund", "a refund that the store declined is taken for a refund") {
      $0.hasPrefix("REFUND_DECLINED")
    },
    takingBack("refund-by-type", "the type REFUND takes a purchase back, whatever its transaction says") {
      $0 == "REFUND"
    },
    takingBack("not-renewed-ends", "a subscription that will not renew ends at once") {
      $0.hasPrefix("DID_CHANGE_RENEWAL_STATUS")
    },
    BrokenBackend(
      "noted-is-granted", "a purchase that a notification told of is a duplicate when it is uploaded",
      hooks: BrokenHooks(before: { mock, call in
        guard let upload = call.request.upload, upload.claims.count == 1,
          let id = upload.claims.first?.transactionID
        else { return nil }
        let model = try mock.backend.model()
        guard let row = model.purchases.last(where: { $0.facts.transactionID == id }), row.device == nil,
          row.account == nil, row.facts.revocationDate == nil, row.facts.expiresDate == nil,
          model.credits(for: row.transaction).isEmpty
        else { return nil }
        return try all(.duplicate, of: upload, mock)
      })),
  ]

  /// Answers notifications of a type 200, and does nothing.
  static func ignoring(_ name: String, _ summary: String, _ type: String) -> BrokenBackend {
    BrokenBackend(
      name, summary,
      hooks: BrokenHooks(before: { mock, call in
        guard let notice = try notice(in: call, mock), notice.type.hasPrefix(type) else { return nil }
        return try JSONBody.response(EmptyDocument())
      }))
  }

  private static func refusing(
    _ name: String, _ summary: String, _ isRefused: @escaping @Sendable (String) -> Bool
  ) -> BrokenBackend {
    BrokenBackend(
      name, summary,
      hooks: BrokenHooks(before: { mock, call in
        guard let notice = try notice(in: call, mock), isRefused(notice.type) else { return nil }
        throw HTTPProblem.invalid("notificationType: unknown")
      }))
  }

  /// Takes back what notifications of these types tell of.
  static func takingBack(
    _ name: String, _ summary: String, _ takes: @escaping @Sendable (String) -> Bool
  ) -> BrokenBackend {
    BrokenBackend(
      name, summary,
      hooks: BrokenHooks(before: { mock, call in
        guard let notice = try notice(in: call, mock), takes(notice.type) else { return nil }
        let keys = told(by: notice).map { TransactionKey($0) }
        try write(mock) { _ in keys.map { .reversal(Reversal(transaction: $0, at: call.now)) } }
        return try JSONBody.response(EmptyDocument())
      }))
  }
}

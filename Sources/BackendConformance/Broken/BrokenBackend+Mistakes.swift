import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  /// What server teams get wrong about texts, numbers, and what comes late.
  static let mistakes: [BrokenBackend] = [
    BrokenBackend(
      "restored-again", "a restored purchase is credited again, because its id is another one",
      hooks: changingFacts { facts, _, _ in
        guard facts.expiresDate == nil, facts.ownership == .purchased else { return }
        facts.originalTransactionID = facts.transactionID
      }),
    BrokenBackend(
      "long-receipt-waits", "a receipt that the store takes in no request is pending for ever",
      hooks: BrokenHooks(before: { mock, call in
        guard let upload = call.request.upload,
          upload.proofs.contains(where: { $0.data.utf8.count > 3 << 20 })
        else { return nil }
        return try all(.pending, of: upload, mock)
      })),
    BrokenBackend(
      "ids-as-numbers", "a transaction id is read as a number",
      hooks: BrokenHooks(
        before: { mock, call in
          guard var upload = call.request.upload else { return nil }
          for index in upload.claims.indices {
            let id = upload.claims[index].transactionID
            guard let number = Int64(id.trimmingCharacters(in: .whitespaces)), String(number) != id else {
              continue
            }
            upload.claims[index].transactionID = String(number)
            mock.brokenMemory.payments["written " + String(number)] = id
          }
          try replace(upload, in: &call)
          return nil
        },
        verdicts: { mock, reply, _, _ in
          for index in reply.verdicts.indices {
            let key = "written " + reply.verdicts[index].transactionID
            guard let id = mock.brokenMemory.payments.removeValue(forKey: key) else { continue }
            reply.verdicts[index].transactionID = id
          }
        })),
    BrokenBackend(
      "notification-as-proof", "a notification is a proof of the transaction in it",
      hooks: BrokenHooks(hears: { answer, query, _, _, now in
        let data = query.document.flatMap { JWSText.payload(of: $0.data) }?["data"]
        guard let inner = data?["signedTransactionInfo"]?.string.flatMap(JWSText.payload) else { return }
        believe(inner, in: &answer, now: now)
      })),
    BrokenBackend(
      "product-case-ignored", "a product is found in any case",
      hooks: BrokenHooks(before: { mock, call in
        guard isCall(call, "POST", "/v1/orders"), let body = json(of: call),
          let wished = body["productID"]?.string?.lowercased(),
          let product = mock.store.products.keys.first(where: { $0.lowercased() == wished })
        else { return nil }
        call.request.body = Array(ConformanceLab.with(body, "productID", .string(product)).data)
        return nil
      })),
    BrokenBackend(
      "quantity-of-32-bits", "a quantity is kept in 32 bits",
      hooks: BrokenHooks(before: { _, call in
        guard isCall(call, "POST", "/v1/orders"), let body = json(of: call),
          case .integer(let quantity)? = body["quantity"], quantity > 0
        else { return nil }
        let kept = max(1, Int64(Int32(truncatingIfNeeded: quantity)))
        call.request.body = Array(ConformanceLab.with(body, "quantity", .integer(kept)).data)
        return nil
      })),
    BrokenBackend(
      "charset-refused", "a Content-Type with a charset is refused",
      hooks: BrokenHooks(before: { _, call in
        guard call.request.headers["Content-Type"]?.contains(";") == true else { return nil }
        throw HTTPProblem(status: 415, type: "content-type", title: "The body has to be JSON")
      })),
    BrokenBackend(
      "page-unlimited", "a page has as many orders as are asked for",
      hooks: BrokenHooks(before: { mock, call in
        guard isCall(call, "GET", "/v1/orders"), let limit = call.request.query["limit"].flatMap({ Int($0) }),
          limit > 100, call.request.query["state"] == nil, call.request.query["after"] == nil
        else { return nil }
        let account = try mock.credentials.account(of: call.request)
        let orders = try mock.backend.model().orders.filter { $0.account == account }.prefix(limit)
        return try JSONBody.response(
          OrderListDocument(orders: orders.map { $0.document(at: call.now) }, next: nil))
      })),
    BrokenBackend(
      "registered-token-ignored", "another token under a registered number is ignored",
      hooks: BrokenHooks(before: { mock, call in
        guard call.request.method == "PUT", let body = json(of: call),
          let known = try body["number"]?.string.flatMap({ try mock.backend.model().order(number: $0) })
        else { return nil }
        let token = JSONValue.string(known.accountToken.uuidString)
        call.request.body = Array(ConformanceLab.with(body, "accountToken", token).data)
        return nil
      })),
    BrokenBackend(
      "period-by-arrival", "the period that is uploaded last counts",
      hooks: BrokenHooks(verdicts: { mock, reply, call, credited in
        for told in reply.verdicts where told.verdict == .granted && !credited.contains(told.transactionID) {
          try write(mock) { model in
            guard
              let line = model.credits.last(where: { $0.transaction.transactionID == told.transactionID }),
              let facts = model.purchase(line.transaction)?.facts, let end = facts.expiresDate,
              !facts.isOneOfSeveral
            else { return [] }
            return model.purchases.filter { row in
              row.facts.originalTransactionID == facts.originalTransactionID
                && row.facts.expiresDate.map { $0 > end } ?? false && !row.facts.isUpgraded
                && !model.credits(for: row.transaction).isEmpty
            }.map { .reversal(Reversal(transaction: $0.transaction, at: call.now)) }
          }
        }
      })),
    ignoring("extension-notes-ignored", "notifications of extended periods are ignored", "RENEWAL_EXTENDED"),
    takingBack("downgrade-at-once", "a plan ends at once when another one is chosen for the next period") {
      $0.hasPrefix("DID_CHANGE_RENEWAL_PREF")
    },
    BrokenBackend(
      "seat-renewals-anyones", "a later period of a seat is whose uploads it",
      hooks: giving { _, _, facts, _, sender in
        facts.ownership == .assigned && isLater(facts) ? sender : nil
      }),
    BrokenBackend(
      "late-token-ignored", "a token that the store learns after the upload is ignored",
      hooks: changingFacts { facts, mock, _ in
        guard let line = credit(of: facts.transactionID, mock), facts.expiresDate == nil else { return }
        if model(mock)?.purchase(line.transaction)?.facts.appAccountToken == nil {
          facts.appAccountToken = nil
        }
      }),
    BrokenBackend(
      "receipt-silence-rejects", "a receipt about which the store does not answer is rejected",
      hooks: BrokenHooks(hears: { answer, query, _, _, _ in
        guard query.document?.kind == .appReceipt, answer.statusNumber == nil else { return }
        if case .unavailable = answer.outcome { answer.outcome = .refused }
      })),
    BrokenBackend(
      "credited-over-lapsed", "a credited period is lapsed when it is over",
      hooks: BrokenHooks(verdicts: { mock, reply, call, _ in
        for index in reply.verdicts.indices where reply.verdicts[index].verdict == .duplicate {
          let id = reply.verdicts[index].transactionID
          let facts = try mock.backend.model().purchases.last { $0.facts.transactionID == id }?.facts
          guard let end = facts?.expiresDate, end <= call.now.milliseconds else { continue }
          reply.verdicts[index].verdict = .lapsed
        }
      })),
    BrokenBackend(
      "device-candidates-by-clock", "an order that a device made is no candidate before its own time",
      hooks: changingClaims { claim, _, _, model in
        claim.candidates?.removeAll { model.order(number: $0)?.number.hasPrefix("device-") ?? false }
      }),
    failing("nested-500", "a deeply nested body is a 500") { $0.hasPrefix("[[[[") },
    failing("nul-500", "a NUL in a claim is a 500") { $0.contains(#"\u0000"#) && $0.contains(#""claims""#) },
    failing("odd-version-1-500", "a notification of version 1 without an id is a 500") {
      $0.contains(#""notification_type""#) && !$0.contains(#""transaction_id""#)
    },
    BrokenBackend(
      "race-opposite", "uploads of several claims that come at once block one another, and fail",
      hooks: BrokenHooks(race: BrokenRace.opposite.answer)),
  ]

  /// Answers such a body with a 500.
  private static func failing(
    _ name: String, _ summary: String, _ fails: @escaping @Sendable (String) -> Bool
  ) -> BrokenBackend {
    BrokenBackend(
      name, summary,
      hooks: BrokenHooks(before: { _, call in
        guard call.request.body.count < 1 << 20, fails(String(decoding: call.request.body, as: UTF8.self))
        else { return nil }
        throw HTTPProblem(status: 500, type: "internal", title: "Something is wrong")
      }))
  }
}

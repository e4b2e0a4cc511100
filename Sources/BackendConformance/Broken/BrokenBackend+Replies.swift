import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  /// Bugs in the answers to uploads.
  static let replies: [BrokenBackend] = [
    BrokenBackend(
      "double-grant", "every upload of a transaction grants it again",
      hooks: BrokenHooks(verdicts: { mock, reply, call, _ in
        for index in reply.verdicts.indices where reply.verdicts[index].verdict == .duplicate {
          try credit(again: reply.verdicts[index].transactionID, mock, now: call.now)
          reply.verdicts[index].verdict = .granted
        }
      })),
    BrokenBackend(
      "bare-200", "uploads are answered with 200 and no verdicts",
      hooks: BrokenHooks(answers: { response, call, _ in
        guard call.request.upload != nil, response.status == 200 else { return }
        response.body = Array("{}".utf8)
      })),
    BrokenBackend(
      "forgets", "grants are not recorded",
      hooks: BrokenHooks(before: { mock, call in
        guard let upload = call.request.upload, (1...100).contains(upload.claims.count) else { return nil }
        let sender = try mock.credentials.sender(of: call.request)
        try UploadBody.claims(upload).check(sender.uploader)
        _ = try mock.credentials.signedInIfAny(of: call.request)
        // Judged by a copy of the model, which ends here.
        var model = try mock.backend.model()
        let judgement = model.judge(upload, from: sender.uploader, now: call.now) {
          mock.ask($0, answers: call.answers, now: call.now)
        }
        return try JSONBody.response(
          UploadReply(ledgerEpoch: model.ledgerEpoch, verdicts: judgement.verdicts))
      })),
    BrokenBackend(
      "per-proof", "a transaction is granted again with another proof",
      hooks: BrokenHooks(verdicts: { mock, reply, call, _ in
        guard let upload = call.request.upload else { return }
        for (index, claim) in upload.claims.enumerated() where reply.verdicts.indices.contains(index) {
          let text = upload.proof(of: claim)?.data ?? ""
          let isNew = mock.brokenMemory.proofs[claim.transactionID, default: []].insert(text).inserted
          guard isNew, !text.isEmpty, reply.verdicts[index].verdict == .duplicate else { continue }
          try credit(again: claim.transactionID, mock, now: call.now)
          reply.verdicts[index].verdict = .granted
        }
      })),
    BrokenBackend(
      "duplicate-as-granted", "a duplicate is told as granted",
      hooks: BrokenHooks(verdicts: { _, reply, _, _ in
        for index in reply.verdicts.indices where reply.verdicts[index].verdict == .duplicate {
          reply.verdicts[index].verdict = .granted
        }
      })),
    BrokenBackend(
      "verdict-missing", "the last of several claims gets no verdict",
      hooks: BrokenHooks(verdicts: { _, reply, _, _ in
        if reply.verdicts.count > 1 { reply.verdicts.removeLast() }
      })),
    BrokenBackend(
      "verdicts-swapped", "the verdicts of several claims are in the wrong order",
      hooks: BrokenHooks(verdicts: { _, reply, _, _ in
        let words = reply.verdicts.map(\.verdict).reversed()
        for (index, word) in zip(reply.verdicts.indices, words) { reply.verdicts[index].verdict = word }
      })),
    BrokenBackend(
      "environment-verified", "a verdict does not echo the environment of its claim",
      hooks: BrokenHooks(verdicts: { _, reply, _, _ in
        for index in reply.verdicts.indices { reply.verdicts[index].environment = "Production" }
      })),
    BrokenBackend(
      "no-epoch", "answers to uploads have no ledgerEpoch",
      hooks: BrokenHooks(verdicts: { _, reply, _, _ in reply.ledgerEpoch = "" })),
    BrokenBackend(
      "new-epoch", "each answer to an upload has another ledgerEpoch",
      hooks: BrokenHooks(verdicts: { mock, reply, _, _ in
        // The count begins again at a restart, the ids do not.
        reply.ledgerEpoch += "-\(mock.brokenMemory.next())-\(reply.verdicts.first?.transactionID ?? "")"
      })),
    BrokenBackend(
      "one-unit", "one unit is credited, whatever quantity was paid",
      hooks: BrokenHooks(verdicts: { mock, reply, _, credited in
        let new = reply.verdicts.filter { $0.verdict == .granted && !credited.contains($0.transactionID) }
        for verdict in new { try reduce(verdict.transactionID, mock) }
      })),
    BrokenBackend(
      "undelivered", "a paid order stays open",
      hooks: BrokenHooks(answers: { response, call, mock in
        guard call.request.method == "GET", call.request.path.hasPrefix("/v1/orders/"),
          response.status == 200
        else { return }
        var order = try JSONDecoder().decode(OrderDocument.self, from: Data(response.body))
        if order.state == .delivered { order.state = .open }
        response = try JSONBody.response(order)
      })),
    BrokenBackend(
      "fifty-claims", "an upload with more than 50 claims is refused",
      hooks: BrokenHooks(before: { _, call in
        guard call.request.upload.map({ (51...100).contains($0.claims.count) }) == true else { return nil }
        throw HTTPProblem(status: 413, type: "too-large", title: "Too many claims")
      })),
    BrokenBackend(
      "claims-needed", "an upload of only a receipt is refused",
      hooks: BrokenHooks(before: { _, call in
        guard json(of: call)?["receipt-data"] != nil else { return nil }
        throw HTTPProblem.malformed("claims: missing")
      })),
  ]

  /// Makes the account own one unit of what it was credited.
  private static func reduce(_ id: String, _ mock: MockState) throws {
    try write(mock) { model in
      guard let credit = model.credits.last(where: { $0.transaction.transactionID == id }),
        credit.quantity > 1
      else { return [] }
      var less = credit
      (less.quantity, less.sequence) = (1 - credit.quantity, model.credits.count + 1)
      return [.credit(less)]
    }
  }
}

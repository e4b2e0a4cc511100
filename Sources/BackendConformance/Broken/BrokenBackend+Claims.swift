import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  /// Bugs by which a claim is believed, or a proof that is none.
  static let claims: [BrokenBackend] = [
    BrokenBackend(
      "claim-product", "the product of the claim is believed",
      hooks: changing { $0.productID = $1.productID }),
    BrokenBackend(
      "claim-quantity", "the quantity of the claim is believed",
      hooks: changing { $0.quantity = $1.quantity }),
    BrokenBackend(
      "claim-environment", "the environment of the claim is believed",
      hooks: changing { $0.environment = StoreEnvironment(rawValue: $1.environment) }),
    BrokenBackend(
      "claim-transaction", "the transaction id of the claim is believed",
      hooks: BrokenHooks(hears: { answer, _, claims, _, _ in
        guard var report = answer.report, let first = report.transactions.first else { return }
        for claim in claims
        where !report.transactions.contains(where: { $0.transactionID == claim.transactionID }) {
          var believed = first
          (believed.transactionID, believed.originalTransactionID) = (
            claim.transactionID, claim.transactionID
          )
          believed.appAccountToken = nil
          report.transactions.append(believed)
        }
        answer.outcome = .genuine(report)
      })),
    BrokenBackend(
      "signature-unverified", "the signature of a proof is not verified",
      hooks: BrokenHooks(hears: { answer, query, _, _, now in
        answer.isProof = true
        guard case .forged = answer.outcome, let proof = query.document else { return }
        believe(JWSText.payload(of: proof.data), in: &answer, now)
      })),
    BrokenBackend(
      "unsigned-believed", "a proof that says it needs no signature is believed",
      hooks: BrokenHooks(hears: { answer, query, _, _, now in
        guard let proof = query.document, proof.data.hasSuffix(".") else { return }
        believe(JWSText.payload(of: proof.data), in: &answer, now)
      })),
    BrokenBackend(
      "grants-unknown", "a transaction that the store does not know is granted",
      hooks: BrokenHooks(before: { mock, call in
        let now = call.now
        return try prove(&mock, in: &call) { answer, claim, mock in
          guard case .notFound = answer.outcome else { return nil }
          return try believed([claim], mock, now)
        }
      })),
    BrokenBackend(
      "ids-believed", "a claim without a proof is granted as one with a proof",
      hooks: BrokenHooks(before: { mock, call in
        try prove(&mock, in: &call) { answer, _, _ in answer.report == nil ? nil : answer }
      })),
    BrokenBackend(
      "grants-silent", "while the store does not answer, a claim is granted",
      hooks: BrokenHooks(hears: { answer, _, claims, mock, now in
        guard case .unavailable = answer.outcome else { return }
        do {
          answer = try believed(claims, mock, now)
        } catch {
          return  // Without its file not even this backend grants anything.
        }
      })),
    BrokenBackend(
      "rejects-silent", "while the store does not answer, a claim is rejected",
      hooks: BrokenHooks(hears: { answer, _, _, _, _ in
        if case .unavailable = answer.outcome { answer.outcome = .refused }
      })),
    BrokenBackend(
      "unsigned-answers-reject", "a claim is rejected if the store's answer by id is not signed rightly",
      hooks: BrokenHooks(hears: { answer, _, _, _, _ in
        if case .unsigned = answer.outcome { answer.outcome = .forged }
      })),
    BrokenBackend(
      "malformed-pending", "an unreadable proof is pending for ever",
      hooks: BrokenHooks(hears: { answer, _, _, _, _ in
        switch answer.outcome {
        case .malformed, .doubtful: answer.outcome = .unavailable
        default: break
        }
      })),
    BrokenBackend(
      "first-proof", "every claim rests on the first proof of the list",
      hooks: BrokenHooks(before: { _, call in
        guard var upload = call.request.upload, !upload.proofs.isEmpty else { return nil }
        for index in upload.claims.indices { upload.claims[index].proof = 0 }
        try replace(upload, in: &call)
        return nil
      })),
  ]

  /// Changes the facts of each claimed transaction.
  private static func changing(
    _ change: @escaping @Sendable (inout VerifiedTransaction, Claim) -> Void
  ) -> BrokenHooks {
    BrokenHooks(hears: { answer, _, claims, _, _ in
      guard var report = answer.report else { return }
      for index in report.transactions.indices {
        let id = report.transactions[index].transactionID
        if let claim = claims.first(where: { $0.transactionID == id }) {
          change(&report.transactions[index], claim)
        }
      }
      answer.outcome = .genuine(report)
    })
  }

  /// Takes a payload for genuine.
  static func believe(_ payload: JSONValue?, in answer: inout StoreAnswer, _ now: Timestamp) {
    guard let payload else { return }
    do throws(ReceiptDecodingError) {
      let told = VerifiedTransaction(try SignedTransaction(payload: payload.data), askedAt: now.milliseconds)
      answer = StoreAnswer(.genuine(StoreReport([told])))
    } catch {
      return  // No transaction: not even this backend believes it.
    }
  }

  /// Gives claims without a proof one: what the store says about their ids, if `believed` makes something of it.
  static func prove(
    _ mock: inout MockState, in call: inout Route.Call,
    _ believed: (StoreAnswer, Claim, MockState) throws -> StoreAnswer?
  ) throws -> HTTPResponse? {
    guard var upload = call.request.upload else { return nil }
    for (index, claim) in upload.claims.enumerated() where claim.proof == nil {
      let query = BackendModel.query(claim, nil)
      let answer = mock.ask(query, answers: call.answers, now: call.now)
      call.answers[query] = answer
      guard let told = try believed(answer, claim, mock) else { continue }
      let proof = ProofDocument(kind: .signedTransaction, data: "the store's record \(index)")
      call.answers[.proof(proof)] = told
      upload.claims[index].proof = upload.proofs.count
      upload.proofs.append(proof)
    }
    try replace(upload, in: &call)
    return nil
  }

  /// Takes the claims for facts.
  private static func believed(
    _ claims: [Claim], _ mock: MockState, _ now: Timestamp
  ) throws -> StoreAnswer {
    let model = try mock.backend.model()
    let told = claims.map { claim in
      var told = VerifiedTransaction(
        transactionID: claim.transactionID, environment: StoreEnvironment(rawValue: claim.environment),
        productID: claim.productID, quantity: claim.quantity, purchaseDate: claim.purchasedAt.milliseconds,
        toldAt: now.milliseconds)
      told.bundleID = mock.store.forge.bundleID
      told.appAccountToken = claim.orderNumber.flatMap { model.order(number: $0) }?.accountToken.uuidString
      return told
    }
    return StoreAnswer(.genuine(StoreReport(told)))
  }
}

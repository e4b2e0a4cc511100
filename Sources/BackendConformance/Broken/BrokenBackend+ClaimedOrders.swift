import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  /// Bugs about which order a payment pays.
  static let claimedOrders: [BrokenBackend] = [
    BrokenBackend(
      "claimed-order-ignored", "the order that a claim names is ignored if there is no token",
      hooks: changingClaims { claim, proof, _, _ in
        guard claim.match == .bound, proof.map(hasToken) == false else { return }
        (claim.match, claim.orderNumber) = (.none, nil)
      }),
    BrokenBackend(
      "claimed-order-untold", "verdicts name no order",
      hooks: BrokenHooks(verdicts: { _, reply, _, _ in
        for index in reply.verdicts.indices { reply.verdicts[index].orderNumber = nil }
      })),
    BrokenBackend(
      "claimed-order-to-sender", "the sender gets the purchase if the claimed order is another account's",
      hooks: changingClaims { claim, proof, sender, model in
        guard proof.map(hasToken) == false,
          let order = claim.orderNumber.flatMap({ model.order(number: $0) }),
          sender != .account(order.account)
        else { return }
        (claim.match, claim.orderNumber) = (.none, nil)
      }),
    BrokenBackend(
      "candidates-ignored", "proposed orders are ignored",
      hooks: changingClaims { claim, _, _, _ in
        if claim.match == .proposed { (claim.match, claim.candidates) = (.none, nil) }
      }),
    BrokenBackend(
      "candidate-unchecked", "the first candidate is paid, whatever it is for",
      hooks: BrokenHooks(verdicts: { mock, reply, call, _ in
        for claim in call.request.upload?.claims ?? [] where claim.match == .proposed {
          try deliver(claim.candidates?.first, by: claim.transactionID, in: reply, mock)
        }
      })),
    BrokenBackend(
      "first-candidate-only", "only the first candidate is looked at",
      hooks: changingClaims { claim, _, _, _ in
        claim.candidates = claim.candidates.map { Array($0.prefix(1)) }
      }),
    BrokenBackend(
      "other-quantity-rejected", "a payment of another quantity than the order's is rejected",
      hooks: refusing { facts, order, _ in
        order.map { $0.quantity != facts.quantity && $0.productID == facts.productID } ?? false
          && facts.expiresDate == nil
      }),
    BrokenBackend(
      "other-quantity-delivers", "a payment of another quantity makes the order delivered",
      hooks: BrokenHooks(verdicts: { mock, reply, call, _ in
        for claim in call.request.upload?.claims ?? [] where claim.match == .bound {
          try deliver(claim.orderNumber, by: claim.transactionID, in: reply, mock)
        }
      })),
    BrokenBackend(
      "other-product-rejected", "a payment of another product than the order's is rejected",
      hooks: refusing { facts, order, _ in
        order.map { ![facts.productID, facts.bundle?.productID].contains($0.productID) } ?? false
          && facts.originalTransactionID == facts.transactionID
      }),
    BrokenBackend(
      "other-product-to-sender", "a token whose order is for another product counts as none",
      hooks: changingFacts { facts, mock, _ in
        guard let order = order(of: facts, mock), facts.expiresDate == nil else { return }
        if order.productID != facts.productID { facts.appAccountToken = nil }
      }),
    BrokenBackend(
      "unknown-token-rejected", "a purchase with a token that names nothing is rejected",
      hooks: refusing { facts, order, _ in facts.appAccountToken != nil && order == nil }),
    BrokenBackend(
      "unknown-token-final", "a token that names nothing leaves the order of the claim unpaid",
      hooks: changingClaims { claim, proof, _, model in
        guard claim.order == nil, let payload = proof.flatMap({ JWSText.payload(of: $0.data) }),
          let token = payload["appAccountToken"]?.string.flatMap(UUID.init),
          model.orders(accountToken: token).isEmpty
        else { return }
        (claim.match, claim.orderNumber) = (.none, nil)
      }),
    BrokenBackend(
      "unknown-order-rejected", "a claim whose order is not known is rejected",
      hooks: BrokenHooks(before: { mock, call in
        guard let upload = call.request.upload else { return nil }
        let model = try mock.backend.model()
        let isLost = upload.claims.contains { claim in
          claim.order == nil && claim.orderNumber.map { model.order(number: $0) == nil } ?? false
        }
        return isLost ? try all(.rejected, of: upload, mock) : nil
      })),
    BrokenBackend(
      "claims-register-nothing", "the order that a claim brings is not registered",
      hooks: changingClaims { claim, _, _, _ in claim.order = nil }),
    BrokenBackend(
      "taken-token-rejects", "a claim whose order has another order's token is rejected",
      hooks: BrokenHooks(before: { mock, call in
        guard let upload = call.request.upload else { return nil }
        let model = try mock.backend.model()
        let isTaken = upload.claims.contains { claim in
          claim.order.map { order in
            model.orders(accountToken: order.accountToken).contains { $0.number != order.number }
          } ?? false
        }
        return isTaken ? try all(.rejected, of: upload, mock) : nil
      })),
    BrokenBackend(
      "late-order-ignored", "a purchase stays where it is when its order is registered later",
      hooks: BrokenHooks(before: { mock, call in
        guard call.request.method == "PUT", let body = json(of: call),
          let token = body["accountToken"]?.string
        else { return nil }
        let isPaid = try mock.backend.model().purchases.contains {
          $0.facts.appAccountToken?.uppercased() == token.uppercased()
        }
        // No purchase that is known has the order's token then.
        guard isPaid else { return nil }
        let other = ConformanceLab.with(body, "accountToken", .string(UUID().uuidString))
        call.request.body = Array(other.data)
        return nil
      })),
  ]

  // MARK: Claims, facts and lines

  /// Changes each claim of an upload. `change` gets its proof, the sender and what the backend knows.
  static func changingClaims(
    _ change: @escaping @Sendable (inout Claim, ProofDocument?, Uploader, BackendModel) -> Void
  ) -> BrokenHooks {
    BrokenHooks(before: { mock, call in
      guard var upload = call.request.upload else { return nil }
      let sender = try mock.credentials.sender(of: call.request).uploader
      let model = try mock.backend.model()
      for index in upload.claims.indices {
        let proof = upload.proof(of: upload.claims[index])
        change(&upload.claims[index], proof, sender, model)
      }
      try replace(upload, in: &call)
      return nil
    })
  }

  /// Refuses the proofs with such a transaction. The order is that of its token.
  static func refusing(
    _ isRefused: @escaping @Sendable (VerifiedTransaction, BackendOrder?, Timestamp) -> Bool
  ) -> BrokenHooks {
    BrokenHooks(hears: { answer, _, _, mock, now in
      let told = answer.report?.transactions ?? []
      if told.contains(where: { isRefused($0, order(of: $0, mock), now) }) { answer.outcome = .refused }
    })
  }

  /// The order that the token of a transaction names.
  static func order(of facts: VerifiedTransaction, _ mock: MockState) -> BackendOrder? {
    guard let token = facts.appAccountToken.flatMap({ UUID(uuidString: $0) }) else { return nil }
    return model(mock)?.orders(accountToken: token).first
  }

  /// The newest line of a transaction.
  static func credit(of id: String, _ mock: MockState) -> Credit? {
    model(mock)?.credits.last { $0.transaction.transactionID == id }
  }

  /// Nil if the file cannot be read: then not even a broken backend knows anything.
  static func model(_ mock: MockState) -> BackendModel? {
    do throws(BackendStoreError) { return try mock.backend.model() } catch { return nil }
  }

  /// Whether a signed transaction has an account token. True for another proof, whose text does not say.
  private static func hasToken(_ proof: ProofDocument) -> Bool {
    JWSText.payload(of: proof.data).map { $0["appAccountToken"] != nil } ?? true
  }

  /// Makes an open order delivered by a transaction that was granted.
  static func deliver(
    _ number: String?, by id: String, in reply: UploadReply, _ mock: MockState
  ) throws {
    guard reply.verdicts.contains(where: { $0.transactionID == id && $0.verdict == .granted }) else { return }
    try write(mock) { model in
      guard var order = number.flatMap({ model.order(number: $0) }), order.fulfilledBy == nil,
        let row = model.purchases.last(where: { $0.facts.transactionID == id })
      else { return [] }
      (order.state, order.fulfilledBy) = (.delivered, row.transaction)
      return [.order(order)]
    }
  }
}

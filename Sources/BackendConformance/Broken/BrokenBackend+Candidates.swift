import AppStoreReceipts
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  /// Bugs about which of the proposed orders a payment pays, and which claimed order it does not.
  static let candidates: [BrokenBackend] = [
    paying("candidate-product-unchecked", "a candidate for another product is paid") { order, facts in
      order.productID != facts.soldProductID
    },
    paying("cancelled-candidate-paid", "a cancelled candidate is paid") { order, _ in
      order.state == .cancelled
    },
    paying("later-candidate-paid", "a candidate that was made after the payment is paid") { order, facts in
      order.createdAt.milliseconds > facts.purchaseDate + 1_000
    },
    proposing("last-candidate-first", "of several candidates that fit, the last one is paid") { claim, _, _ in
      claim.candidates?.reverse()
    },
    proposing("unknown-candidate-ends", "candidates after one that is not known are ignored") {
      claim, _, model in
      let known = claim.candidates?.prefix { model.order(number: $0) != nil }
      claim.candidates = known.map(Array.init)
    },
    proposing("deferred-candidate-unpaid", "a deferred candidate is not paid") { claim, _, model in
      claim.candidates?.removeAll { model.order(number: $0)?.state == .deferred }
    },
    proposing(
      "candidate-of-other-paid", "an account that proposes another account's order gives it the purchase"
    ) { claim, sender, model in
      guard sender.account != nil,
        let other = claim.candidates?.first(where: { isOfOther(model.order(number: $0), sender) })
      else { return }
      (claim.match, claim.orderNumber, claim.candidates) = (.bound, other, nil)
    },
    proposing(
      "candidates-of-others-end", "an account's candidates are ignored if one of them is another account's"
    ) { claim, sender, model in
      let isMixed = claim.candidates?.contains { isOfOther(model.order(number: $0), sender) } ?? false
      if sender.account != nil, isMixed { claim.candidates = [] }
    },
    proposing("device-candidates-ignored", "orders that a device proposes are ignored") { claim, sender, _ in
      if sender.account == nil { claim.candidates = [] }
    },
    proposing("first-of-several-accounts", "a device's first candidate is paid, whosever the others are") {
      claim, sender, _ in
      if sender.account == nil { claim.candidates = claim.candidates.map { Array($0.prefix(1)) } }
    },
    BrokenBackend(
      "claimed-order-unchecked", "the account of a claimed order for another product gets the purchase",
      hooks: giving { claim, _, facts, model, _ in
        guard claim.match == .bound, facts.appAccountToken == nil,
          let order = claim.orderNumber.flatMap({ model.order(number: $0) }),
          order.productID != facts.soldProductID
        else { return nil }
        return .account(order.account)
      }),
    BrokenBackend(
      "claimed-order-paid-once", "the sender gets a second payment of an order that its claim names",
      hooks: giving { claim, line, facts, model, sender in
        guard claim.match == .bound, facts.appAccountToken == nil,
          let payer = claim.orderNumber.flatMap({ model.order(number: $0) })?.fulfilledBy,
          payer != line.transaction
        else { return nil }
        return sender
      }),
    BrokenBackend(
      "moved-keeps-order", "an order whose purchase has moved to another account stays delivered",
      hooks: BrokenHooks(verdicts: { mock, reply, _, _ in
        for told in reply.verdicts {
          let id = told.transactionID
          try write(mock) { model in
            guard let line = model.credits.last(where: { $0.transaction.transactionID == id }) else {
              return []
            }
            let before = Set(
              model.verdicts.filter { $0.transactionID == id }.compactMap(\.orderNumber)
                .filter { $0 != line.orderNumber })
            return before.compactMap { model.order(number: $0) }.filter { $0.fulfilledBy == nil }.map {
              var order = $0
              (order.state, order.fulfilledBy) = (.delivered, line.transaction)
              return .order(order)
            }
          }
        }
      })),
  ]

  private static func isOfOther(_ order: BackendOrder?, _ sender: Uploader) -> Bool {
    order.map { $0.account != sender.account } ?? false
  }

  /// Changes what a claim proposes. `change` gets the sender, and what the backend knows.
  private static func proposing(
    _ name: String, _ summary: String,
    _ change: @escaping @Sendable (inout Claim, Uploader, BackendModel) -> Void
  ) -> BrokenBackend {
    BrokenBackend(
      name, summary,
      hooks: changingClaims { claim, _, sender, model in
        if claim.match == .proposed { change(&claim, sender, model) }
      })
  }

  /// Pays the first candidate of a claim, too, if it is such an order.
  private static func paying(
    _ name: String, _ summary: String,
    _ isPaid: @escaping @Sendable (BackendOrder, VerifiedTransaction) -> Bool
  ) -> BrokenBackend {
    BrokenBackend(
      name, summary,
      hooks: BrokenHooks(verdicts: { mock, reply, call, _ in
        for claim in call.request.upload?.claims ?? [] where claim.match == .proposed {
          let model = try mock.backend.model()
          guard let order = claim.candidates?.first.flatMap({ model.order(number: $0) }),
            let row = model.purchases.last(where: { $0.facts.transactionID == claim.transactionID }),
            isPaid(order, row.facts)
          else { continue }
          try deliver(order.number, by: claim.transactionID, in: reply, mock)
        }
      }))
  }

  /// Gives a credited transaction to another owner after the judgement. `next` gets the claim, its line, its facts, what the
  /// backend knows and the sender; nil for an owner that stays.
  static func giving(
    _ next: @escaping @Sendable (Claim, Credit, VerifiedTransaction, BackendModel, Uploader) -> Uploader?
  ) -> BrokenHooks {
    BrokenHooks(verdicts: { mock, reply, call, _ in
      let sender = try mock.credentials.sender(of: call.request).uploader
      for claim in call.request.upload?.claims ?? [] {
        let model = try mock.backend.model()
        guard let index = reply.verdicts.firstIndex(where: { $0.transactionID == claim.transactionID }),
          let line = model.credits.last(where: { $0.transaction.transactionID == claim.transactionID }),
          let facts = model.purchase(line.transaction)?.facts,
          let owner = next(claim, line, facts, model, sender), owner != model.owner(of: line)
        else { continue }
        var moved = line
        moved.owner = owner
        try write(mock) { _ in [.creditMoved(moved)] }
        reply.verdicts[index].verdict = owner == sender ? .granted : .otherOwner
        reply.verdicts[index].owner = owner != sender ? .another : sender.account == nil ? .device : .yours
      }
    })
  }
}

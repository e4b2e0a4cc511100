import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  /// Backends that lack a row of the table of owners, or have one too many.
  static let ownerRows: [BrokenBackend] = [
    claiming("renewal-claims-count", "the account of the order that a claim about a renewal names gets it") {
      isLater($0) && $0.ownership != .assigned
    },
    claiming(
      "share-claims-count", "the account of the order that a claim about a family's share names gets it"
    ) {
      $0.ownership == .familyShared
    },
    claiming("seat-claims-count", "the account of the order that a claim about a seat names gets it") {
      $0.ownership == .assigned
    },
    BrokenBackend(
      "share-token-counts", "the token on a family's share makes it the payer's",
      hooks: giving { _, _, facts, model, _ in
        guard facts.ownership == .familyShared else { return nil }
        return tokenAccount(facts, model)
      }),
    BrokenBackend(
      "seat-follows-original", "a seat belongs to the owner of the first transaction that it names",
      hooks: giving { _, _, facts, model, _ in
        facts.ownership == .assigned ? firstOwner(facts, model) : nil
      }),
    BrokenBackend(
      "chain-by-first", "a later period belongs to the owner of the first one",
      hooks: giving { _, _, facts, model, _ in
        guard isLater(facts), facts.reason == .renewal, facts.ownership == .purchased,
          tokenAccount(facts, model) == nil
        else { return nil }
        return firstOwner(facts, model)
      }),
    BrokenBackend(
      "chain-before-only", "a period without one before it belongs to who uploads it",
      hooks: giving { _, _, facts, model, sender in
        guard isLater(facts), facts.ownership == .purchased, tokenAccount(facts, model) == nil else {
          return nil
        }
        let before = model.purchases.contains { row in
          row.facts.originalTransactionID == facts.originalTransactionID
            && row.facts.purchaseDate < facts.purchaseDate && !model.credits(for: row.transaction).isEmpty
        }
        return before || facts.previousOriginalTransactionID != nil ? nil : sender
      }),
    BrokenBackend(
      "renamed-chain-is-new", "the original id that a subscription had before is not looked at",
      hooks: changingFacts { facts, _, _ in facts.previousOriginalTransactionID = nil }),
    BrokenBackend(
      "consumables-move", "a consumable without an account moves to the next phone",
      hooks: changingFacts { facts, _, _ in
        if facts.isConsumable == true { facts.isConsumable = false }
      }),
    BrokenBackend(
      "adopted-by-last", "what a device uploads late is the account's that adopted it last",
      hooks: giving { _, line, _, model, _ in
        guard case .device(let device) = line.owner, model.owner(of: line).account != nil else { return nil }
        let adoptions = model.deviceAdoptions.filter { $0.device == device }
        // Only what came after the first adoption.
        guard let first = adoptions.first, let last = adoptions.last, line.sequence > last.throughSequence,
          first.account != last.account
        else { return nil }
        return .account(last.account)
      }),
    unlinking("bundle-token-alone", "a token of a bundle says nothing of its other subscriptions") {
      facts, _, mock in
      order(of: facts, mock).map { $0.productID != facts.soldProductID } ?? false
    },
    BrokenBackend(
      "bundle-last-claim-wins", "a claimed order of a bundle takes what another claimed order has of it",
      hooks: BrokenHooks(verdicts: { mock, reply, call, _ in
        for claim in call.request.upload?.claims ?? [] where claim.match == .bound {
          try write(mock) { model in
            guard
              let line = model.credits.last(where: { $0.transaction.transactionID == claim.transactionID }),
              line.orderNumber != nil
            else { return [] }
            return lines(ofBundleWith: line, model).filter { $0.orderNumber != nil && $0.owner != line.owner }
              .flatMap { other -> [BackendWrite] in
                guard var order = other.orderNumber.flatMap({ model.order(number: $0) }) else { return [] }
                (order.state, order.fulfilledBy) = (.open, nil)
                var moved = other
                (moved.owner, moved.orderNumber) = (line.owner, nil)
                return [.creditMoved(moved), .order(order)]
              }
          }
        }
      })),
    unlinking("bundle-sender-keeps", "what an account has of a bundle stays when another one is claimed") {
      facts, claims, mock in
      claims.contains { $0.match == .bound } && facts.appAccountToken == nil
        && others(of: facts, mock).contains { $0.owner.account != nil && $0.orderNumber == nil }
    },
    BrokenBackend(
      "bundle-needs-order", "a bundle without an order says nothing of its other subscriptions",
      hooks: giving { _, line, facts, model, sender in
        guard facts.bundle != nil, line.orderNumber == nil, tokenAccount(facts, model) == nil,
          sender.account != nil
        else { return nil }
        let others = lines(ofBundleWith: line, model)
        let isNamed = others.contains { other in
          other.orderNumber != nil
            || model.purchase(other.transaction).flatMap { tokenAccount($0.facts, model) } != nil
        }
        return others.isEmpty || isNamed ? nil : sender
      }),
    unlinking("bundle-guess-stays", "what was only proposed for a bundle stays when another one is claimed") {
      facts, claims, mock in
      claims.contains { $0.match == .bound } && facts.appAccountToken == nil
        && others(of: facts, mock).contains { $0.cause == .proposed }
    },
    unlinking(
      "bundle-guess-over-token", "what was only proposed for a bundle stays when a token names another"
    ) {
      facts, _, mock in
      order(of: facts, mock) != nil && others(of: facts, mock).contains { $0.cause == .proposed }
    },
    BrokenBackend(
      "bundle-order-each", "each subscription of a bundle fulfils an order of its own",
      hooks: BrokenHooks(verdicts: { mock, reply, _, _ in
        for told in reply.verdicts {
          try write(mock) { model in
            guard
              let line = model.credits.last(where: { $0.transaction.transactionID == told.transactionID }),
              line.orderNumber == nil, let facts = model.purchase(line.transaction)?.facts,
              facts.bundle != nil,
              var order = order(of: facts, mock), order.fulfilledBy == nil,
              order.productID == facts.soldProductID
            else { return [] }
            (order.state, order.fulfilledBy) = (.delivered, line.transaction)
            return [.order(order)]
          }
        }
      })),
  ]

  /// Gives such a transaction to the account of the order that its claim names.
  private static func claiming(
    _ name: String, _ summary: String, _ isGiven: @escaping @Sendable (VerifiedTransaction) -> Bool
  ) -> BrokenBackend {
    BrokenBackend(
      name, summary,
      hooks: giving { claim, _, facts, model, _ in
        guard claim.match == .bound, isGiven(facts) else { return nil }
        return claim.orderNumber.flatMap { model.order(number: $0) }.map { .account($0.account) }
      })
  }

  /// Takes such a transaction out of the payment of its bundle. The claims are those that rest on its proof.
  private static func unlinking(
    _ name: String, _ summary: String,
    _ isApart: @escaping @Sendable (VerifiedTransaction, [Claim], MockState) -> Bool
  ) -> BrokenBackend {
    BrokenBackend(
      name, summary,
      hooks: BrokenHooks(hears: { answer, _, claims, mock, _ in
        guard var report = answer.report else { return }
        for index in report.transactions.indices where report.transactions[index].bundle != nil {
          if isApart(report.transactions[index], claims, mock) {
            report.transactions[index].bundle?.transactionID = nil
          }
        }
        answer.outcome = .genuine(report)
      }))
  }

  private static func tokenAccount(_ facts: VerifiedTransaction, _ model: BackendModel) -> Uploader? {
    guard let token = facts.appAccountToken.flatMap({ UUID(uuidString: $0) }) else { return nil }
    return model.orders(accountToken: token).first.map { .account($0.account) }
  }

  private static func firstOwner(_ facts: VerifiedTransaction, _ model: BackendModel) -> Uploader? {
    guard facts.originalTransactionID != facts.transactionID else { return nil }
    return model.credits.last { $0.transaction.transactionID == facts.originalTransactionID }
      .map(model.owner(of:))
  }

  /// The lines of the other transactions of a bundle's payment.
  private static func lines(ofBundleWith line: Credit, _ model: BackendModel) -> [Credit] {
    guard let payment = model.purchase(line.transaction)?.facts.bundle?.transactionID else { return [] }
    return model.credits.filter { other in
      other.transaction != line.transaction
        && model.purchase(other.transaction)?.facts.bundle?.transactionID == payment
    }
  }

  private static func others(of facts: VerifiedTransaction, _ mock: MockState) -> [Credit] {
    guard let payment = facts.bundle?.transactionID, let model = model(mock) else { return [] }
    return model.credits.filter { line in
      line.transaction.transactionID != facts.transactionID
        && model.purchase(line.transaction)?.facts.bundle?.transactionID == payment
    }
  }
}

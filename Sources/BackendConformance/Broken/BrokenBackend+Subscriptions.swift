import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  /// Bugs of subscriptions.
  static let subscriptions: [BrokenBackend] = [
    BrokenBackend(
      "expiry-ignored", "a period that is over is granted",
      hooks: changingFacts { facts, _, now in
        if facts.expiresDate.map({ $0 <= now.milliseconds }) == true {
          facts.expiresDate = now.milliseconds + 86_400_000
        }
      }),
    BrokenBackend(
      "per-chain", "a renewal is a duplicate of the first period",
      hooks: BrokenHooks(before: { mock, call in
        guard let upload = call.request.upload else { return nil }
        let model = try mock.backend.model()
        for query in BackendModel.queries(of: upload) {
          let told = mock.ask(query, answers: call.answers, now: call.now).report?.transactions ?? []
          let isLater = told.contains { facts in
            facts.transactionID != facts.originalTransactionID
              && model.credits.contains { $0.transaction.transactionID == facts.originalTransactionID }
          }
          if isLater { return try all(.duplicate, of: upload, mock) }
        }
        return nil
      })),
    BrokenBackend(
      "renewal-to-sender", "a renewal goes to the account that uploads it",
      hooks: changingFacts { facts, _, _ in facts.originalTransactionID = facts.transactionID }),
    BrokenBackend(
      "upgrades-ignored", "a plan that was upgraded stays beside the new one",
      hooks: BrokenHooks(before: { mock, call in
        guard isCall(call, "GET", "/v1/entitlements") else { return nil }
        let account = try mock.credentials.account(of: call.request)
        let model = try mock.backend.model()
        let replaced = model.credits(of: account).compactMap { credit -> Entitlement? in
          guard let facts = model.purchase(credit.transaction)?.facts, facts.isUpgraded else { return nil }
          return Entitlement(
            productID: facts.productID, quantity: 1, expiresAt: credit.expiresAt,
            environment: facts.environment)
        }
        return try JSONBody.response(
          EntitlementList(entitlements: model.holdings(account: account, now: call.now) + replaced))
      })),
    BrokenBackend(
      "ends-untold", "subscriptions are listed without their end",
      hooks: BrokenHooks(answers: { response, call, _ in
        guard isCall(call, "GET", "/v1/entitlements"), response.status == 200 else { return }
        let list = try JSONValue(json: Data(response.body))
        let items = (list["entitlements"]?.array ?? []).map { item in
          var members = item.object ?? [:]
          members["expiresAt"] = nil
          return JSONValue.object(members)
        }
        response.body = Array(JSONValue.object(["entitlements": .array(items)]).data)
      })),
  ]

  /// Bugs that a restart shows.
  static let restarts: [BrokenBackend] = [
    BrokenBackend(
      "forgets-at-restart", "everything is only in memory",
      hooks: BrokenHooks(file: { $0 + "-" + UUID().uuidString })),
    BrokenBackend(
      "forgets-grants-at-restart", "grants are only in memory",
      hooks: losing { write in
        switch write {
        case .credit, .creditMoved, .purchase, .verdict: true
        default: false
        }
      }),
    BrokenBackend(
      "forgets-orders-at-restart", "unpaid orders are only in memory",
      hooks: BrokenHooks(opens: { backend in
        try backend.change { model in
          let writes = model.orders.filter { $0.fulfilledBy == nil }
            .map { BackendWrite.orderRemoved($0.number) }
          for write in writes { model.apply(write) }
          return writes
        }
      })),
    BrokenBackend(
      "forgets-keys-at-restart", "idempotency keys are only in memory",
      hooks: BrokenHooks(before: { mock, call in
        if let given = call.request.headers["Idempotency-Key"] {
          call.request.headers["Idempotency-Key"] = given + " " + mock.brokenMemory.life
        }
        return nil
      })),
    BrokenBackend(
      "forgets-refunds-at-restart", "refunds are only in memory",
      hooks: losing { if case .reversal = $0 { true } else { false } }),
    BrokenBackend(
      "forgets-notes-at-restart", "what notifications told of unclaimed purchases is only in memory",
      hooks: BrokenHooks(
        // It goes by the proof, and does not ask the store.
        hears: { answer, query, _, mock, _ in
          guard var report = answer.report,
            let payload = query.document.flatMap({ JWSText.payload(of: $0.data) }),
            payload["revocationDate"] == nil
          else { return }
          for index in report.transactions.indices {
            let id = report.transactions[index].transactionID
            let isKnown = model(mock)?.reversals.contains { $0.transaction.transactionID == id } ?? false
            if !isKnown { report.transactions[index].revocationDate = nil }
          }
          answer.outcome = .genuine(report)
        },
        opens: { backend in
          var backup = try backend.backUp()
          let credited = Set(try backend.model().credits.map(\.transaction))
          backup.writes.removeAll { write in
            switch write {
            case .purchase(let row): !credited.contains(row.transaction)
            case .reversal(let reversal): !credited.contains(reversal.transaction)
            default: false
            }
          }
          try backend.restore(backup)
        })),
    BrokenBackend(
      "forgets-states-at-restart", "that an order was cancelled is only in memory",
      hooks: BrokenHooks(opens: { backend in
        try backend.change { model in
          let writes = model.orders.filter { $0.state == .cancelled }.map { order in
            var order = order
            order.state = .open
            return BackendWrite.order(order)
          }
          for write in writes { model.apply(write) }
          return writes
        }
      })),
    BrokenBackend(
      "forgets-devices-at-restart", "the secrets of devices are only in memory",
      hooks: losing { if case .device = $0 { true } else { false } }),
    BrokenBackend(
      "forgets-adoptions-at-restart", "adoptions are only in memory",
      hooks: losing { if case .adoption = $0 { true } else { false } }),
    BrokenBackend(
      "epoch-at-restart", "a restart changes the ledgerEpoch",
      hooks: BrokenHooks(verdicts: { mock, reply, _, _ in
        reply.ledgerEpoch += "-" + mock.brokenMemory.life
      })),
  ]

  /// Drops these writes from the file when the backend starts. The ledger epoch changes too.
  static func losing(_ isLost: @escaping @Sendable (BackendWrite) -> Bool) -> BrokenHooks {
    BrokenHooks(opens: { backend in
      var backup = try backend.backUp()
      backup.writes.removeAll(where: isLost)
      try backend.restore(backup)
    })
  }
}

import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  /// Bugs about what a payment is worth, whose it is, and which order it pays.
  static let payments: [BrokenBackend] =
    paymentRaces + [
      readingReceipts("receipt-token-unasked", "what a receipt proves is credited while the store is silent")
      {
        record, answer in
        if case .unavailable = answer.outcome, record.revocationDate == nil {
          answer.outcome = .genuine(StoreReport([record]))
        }
      },
      readingReceipts("receipt-cancelled-whole", "any cancellation_date in a receipt takes all back") {
        record, answer in
        if record.revocationDate != nil, answer.report != nil { answer.outcome = .genuine(whole(record)) }
      },
      readingReceipts("receipt-cancelled-at-once", "a cancellation_date takes all back at once") {
        record, answer in
        if case .unavailable = answer.outcome, record.revocationDate != nil {
          answer.outcome = .genuine(whole(record))
        }
      },
      readingReceipts("receipt-cancellation-unread", "a cancellation_date in a receipt is ignored") {
        record, answer in
        guard record.revocationDate != nil, var report = answer.report else { return }
        for index in report.transactions.indices {
          report.transactions[index].revocationDate = nil
          report.transactions[index].toldAt += 60_000
        }
        answer.outcome = .genuine(report)
      },
      BrokenBackend(
        "candidate-of-many", "each of several payments in one upload pays the order that they propose",
        hooks: BrokenHooks(verdicts: { mock, reply, call, _ in
          guard reply.verdicts.count > 1 else { return }
          for (index, claim) in (call.request.upload?.claims ?? []).enumerated()
          where claim.match == .proposed && reply.verdicts[index].verdict == .granted {
            reply.verdicts[index].orderNumber = claim.candidates?.first
          }
        })),
      BrokenBackend(
        "version-1-first", "only the first transaction of a notification of version 1 is asked about",
        hooks: changingVersion1 { items, _ in Array(items.prefix(1)) }),
      BrokenBackend(
        "version-1-unknown-ends", "a transaction that is not known ends a notification of version 1",
        hooks: changingVersion1 { items, known in
          Array(items.prefix { known.contains($0["transaction_id"]?.string ?? "") })
        }),
      BrokenBackend(
        "claim-registers-for-other", "a claim registers the order that it brings for the account in it",
        hooks: BrokenHooks(before: { mock, call in
          guard let orders = call.request.upload?.claims.compactMap(\.order), !orders.isEmpty else {
            return nil
          }
          let sender = try mock.credentials.sender(of: call.request).uploader
          for order in orders where sender.account != nil && sender != .account(order.account) {
            try write(mock) { model in
              guard model.order(number: order.number) == nil else { return [] }
              return [.order(BackendOrder(order, of: order.account, createdAt: order.createdAt))]
            }
          }
          return nil
        })),
      BrokenBackend(
        "changed-order-rejects", "a claim whose order is known with other contents is rejected",
        hooks: BrokenHooks(before: { mock, call in
          guard let upload = call.request.upload else { return nil }
          let model = try mock.backend.model()
          let isChanged = upload.claims.compactMap(\.order).contains { order in
            model.order(number: order.number).map { $0.quantity != order.quantity } ?? false
          }
          return isChanged ? try all(.rejected, of: upload, mock) : nil
        })),
      BrokenBackend(
        "registers-any-state", "a first registration takes whatever state the device says",
        hooks: BrokenHooks(answers: { _, call, mock in
          guard call.request.method == "PUT", let body = json(of: call),
            let number = body["number"]?.string, let word = body["state"]?.string,
            !["open", "deferred", "cancelled"].contains(word)
          else { return }
          try write(mock) { model in
            guard var order = model.order(number: number), order.fulfilledBy == nil else { return [] }
            order.state = OrderState(rawValue: word)
            return [.order(order)]
          }
        })),
      BrokenBackend(
        "registers-open-first", "a first registration is always of an open order",
        hooks: BrokenHooks(before: { mock, call in
          guard call.request.method == "PUT", let body = json(of: call),
            try mock.backend.model().order(number: call.parameter) == nil
          else { return nil }
          call.request.body = Array(ConformanceLab.with(body, "state", "open").data)
          return nil
        })),
      BrokenBackend(
        "grace-after-refund", "a refund of a period that is in its grace is ignored",
        hooks: BrokenHooks(
          before: { mock, call in
            guard let notice = try notice(in: call, mock), notice.type == "REFUND",
              told(by: notice).contains(where: { isInGrace($0, mock, call.now) })
            else { return nil }
            return try JSONBody.response(EmptyDocument())
          },
          hears: changingFacts { facts, mock, now in
            if isInGrace(facts, mock, now) { facts.revocationDate = nil }
          }.hears)),
      BrokenBackend(
        "forgets-coverage-at-restart", "what an adoption covers is known until the next restart",
        hooks: BrokenHooks(
          before: { mock, call in
            if isCall(call, "POST", "/v1/adoptions"), let device = json(of: call)?["device"]?.string {
              mock.brokenMemory.counts["covered " + device.uppercased()] = 1
            }
            guard let device = call.request.upload?.device else { return nil }
            let isAdopted = try mock.backend.model().deviceAdoptions.contains { $0.device == device }
            let isCovered = mock.brokenMemory.counts["covered " + device.uuidString] != nil
            mock.brokenMemory.counts["uncovered"] = isAdopted && !isCovered ? 1 : nil
            return nil
          },
          hears: changingFacts { facts, mock, now in
            guard mock.brokenMemory.counts["uncovered"] != nil, credit(of: facts.transactionID, mock) == nil
            else { return }
            facts.purchaseDate = now.milliseconds + 60_000
          }.hears)),
      BrokenBackend(
        "forgets-parts-at-restart", "how much was refunded is only in memory",
        hooks: BrokenHooks(opens: { backend in
          try backend.change { model in
            let writes = model.reversals.filter { $0.units != nil }.map { reversal in
              var whole = reversal
              (whole.units, whole.share) = (nil, nil)
              return BackendWrite.reversal(whole)
            }
            for write in writes { model.apply(write) }
            return writes
          }
        })),
      BrokenBackend(
        "forgets-graces-at-restart", "what renewal infos say is only in memory",
        hooks: losing { if case .renewal = $0 { true } else { false } }),
      BrokenBackend(
        "forgets-device-orders-at-restart", "unpaid orders of devices are only in memory",
        hooks: BrokenHooks(opens: { backend in
          try backend.change { model in
            let writes = model.orders.filter { $0.fulfilledBy == nil && DeviceOrder.isNumber($0.number) }
              .map { BackendWrite.orderRemoved($0.number) }
            for write in writes { model.apply(write) }
            return writes
          }
        })),
    ]

  /// Changes what the store says by id of a transaction that is in a receipt. `change` gets what the receipt says of it.
  private static func readingReceipts(
    _ name: String, _ summary: String,
    _ change: @escaping @Sendable (VerifiedTransaction, inout StoreAnswer) -> Void
  ) -> BrokenBackend {
    BrokenBackend(
      name, summary,
      hooks: BrokenHooks(hears: { answer, query, claims, mock, now in
        guard let id = claims.first(where: { $0.proof != nil })?.transactionID else { return }
        let name = "record of " + id
        if let receipt = query.document, receipt.kind != .signedTransaction {
          let record = answer.report?.transactions.first { $0.transactionID == id }
          guard let record = record ?? cancelled(id, answer, mock, now) else { return }
          mock.brokenMemory.answers[name] = StoreAnswer(.genuine(StoreReport([record])))
        }
        guard let record = mock.brokenMemory.answers[name]?.report?.transactions.first else { return }
        change(record, &answer)
      }))
  }

  /// What is known of a transaction of which the store cannot say how much was refunded, although it took the receipt.
  private static func cancelled(
    _ id: String, _ answer: StoreAnswer, _ mock: MockState, _ now: Timestamp
  ) -> VerifiedTransaction? {
    guard case .unavailable = answer.outcome, answer.statusNumber == 0,
      var record = model(mock)?.purchases.last(where: { $0.facts.transactionID == id })?.facts
    else { return nil }
    (record.revocationDate, record.toldAt) = (now.milliseconds, now.milliseconds)
    return record
  }

  /// The refund of a transaction as one of all of it.
  private static func whole(_ record: VerifiedTransaction) -> StoreReport {
    var whole = record
    (whole.refundedShare, whole.shareToldAt) = (.whole, record.toldAt + 1)
    return StoreReport([whole])
  }

  /// Changes the transactions in a notification of version 1. `change` gets the ids that are known, too.
  private static func changingVersion1(
    _ change: @escaping @Sendable ([JSONValue], Set<String>) -> [JSONValue]
  ) -> BrokenHooks {
    BrokenHooks(before: { mock, call in
      guard isNotification(call), let body = json(of: call), let receipt = body["unified_receipt"],
        let items = receipt["latest_receipt_info"]?.array
      else { return nil }
      let known = Set(try mock.backend.model().purchases.map(\.facts.transactionID))
      let changed = ConformanceLab.with(receipt, "latest_receipt_info", .array(change(items, known)))
      call.request.body = Array(ConformanceLab.with(body, "unified_receipt", changed).data)
      return nil
    })
  }

  /// Whether the store grants a subscription a grace now.
  private static func isInGrace(_ facts: VerifiedTransaction, _ mock: MockState, _ now: Timestamp) -> Bool {
    model(mock)?.renewals[ChainKey(facts)]?.graceEndsAt.map { $0 > now.milliseconds } ?? false
  }
}

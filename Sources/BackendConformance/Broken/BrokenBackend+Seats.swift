import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  /// Bugs of subscriptions with seats.
  static let seats: [BrokenBackend] = [
    BrokenBackend(
      "seats-differ", "seats have to be as many as the order says: others are rejected",
      hooks: BrokenHooks(hears: { answer, _, _, mock, _ in
        for told in answer.report?.transactions ?? [] where told.expiresDate != nil {
          let token = told.appAccountToken.flatMap { UUID(uuidString: $0) }
          let order: BackendOrder?
          do { order = try token.flatMap { try mock.backend.model().orders(accountToken: $0).first } } catch {
            return
          }
          if let order, told.quantity != order.quantity, !told.isOfAnotherPayer { answer.outcome = .refused }
        }
      })),
    BrokenBackend(
      "seats-refund-ends", "a refund of some seats is taken for a refund of the purchase",
      hooks: changingFacts { facts, _, now in
        if facts.revokedSeats ?? 0 > 0, facts.revocationDate == nil {
          facts.revocationDate = now.milliseconds
        }
      }),
    BrokenBackend(
      "seats-refund-kept", "refunded seats stay credited",
      hooks: changingFacts { facts, _, _ in facts.revokedSeats = facts.revokedSeats.map { _ in 0 } }),
    BrokenBackend(
      "seat-as-purchase", "a member's seat is taken for a purchase of who owns its token",
      hooks: changingFacts { facts, _, _ in
        if facts.ownership == .assigned { facts.ownership = .purchased }
      }),
    BrokenBackend(
      "seat-counts-all", "a member gets as many seats as were bought",
      hooks: changingFacts { facts, _, _ in
        if facts.ownership == .assigned { (facts.ownership, facts.quantity) = (.familyShared, 3) }
      }),
    BrokenBackend(
      "seat-kept", "a member keeps a seat that was taken back",
      hooks: changingFacts { facts, _, _ in
        if facts.ownership == .assigned { facts.revocationDate = nil }
      }),
    BrokenBackend(
      "seats-note-ends", "any notification of a refund takes the whole purchase back",
      hooks: BrokenHooks(before: { mock, call in
        guard let notice = try notice(in: call, mock), notice.type.hasPrefix("REFUND/SEATS") else {
          return nil
        }
        let ids = told(by: notice).map(\.transactionID)
        try write(mock) { model in
          model.credits.filter { ids.contains($0.transaction.transactionID) }
            .map { .reversal(Reversal(transaction: $0.transaction, at: call.now)) }
        }
        return try JSONBody.response(EmptyDocument())
      })),
    BrokenBackend(
      "unclaimed-refused", "a notification without a transaction is refused",
      hooks: BrokenHooks(before: { mock, call in
        guard let notice = try notice(in: call, mock), notice.type.hasPrefix("UNCLAIM_SEATS") else {
          return nil
        }
        return HTTPResponse(status: 500)
      })),
  ]
}

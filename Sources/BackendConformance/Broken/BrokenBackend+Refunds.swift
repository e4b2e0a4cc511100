import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  /// Bugs of refunds.
  static let refunds: [BrokenBackend] = [
    BrokenBackend(
      "refunds-unread", "the refund in a proof is ignored",
      hooks: changingFacts { facts, _, now in
        guard facts.revocationDate != nil else { return }
        // It counts as newer than the notification that comes with it, which would mend it.
        (facts.revocationDate, facts.toldAt) = (nil, now.milliseconds + 60_000)
      }),
    BrokenBackend(
      "refunds-granted", "a purchase that is refunded before its upload is granted",
      hooks: BrokenHooks(verdicts: { mock, reply, call, credited in
        let uploader = try mock.credentials.sender(of: call.request).uploader
        for index in reply.verdicts.indices where reply.verdicts[index].verdict == .refunded {
          let id = reply.verdicts[index].transactionID
          guard !credited.contains(id) else { continue }
          try grant(id, to: uploader, undoing: true, mock, now: call.now)
          reply.verdicts[index].verdict = .granted
        }
      })),
    BrokenBackend(
      "refund-takes-all", "a refund takes everything from its account",
      hooks: BrokenHooks(verdicts: { mock, reply, call, _ in
        guard reply.verdicts.contains(where: { $0.verdict == .refunded }) else { return }
        let uploader = try mock.credentials.sender(of: call.request).uploader
        try write(mock) { model in
          model.credits.filter { model.owner(of: $0) == uploader }
            .map { .reversal(Reversal(transaction: $0.transaction, at: call.now)) }
        }
      })),
    BrokenBackend(
      "refund-for-ever", "a refund that the store takes back still counts",
      hooks: changingFacts { facts, mock, _ in
        let known = mock.brokenMemory.refunds[facts.transactionID]
        facts.revocationDate = facts.revocationDate ?? known
        mock.brokenMemory.refunds[facts.transactionID] = facts.revocationDate
      }),
    BrokenBackend(
      "refund-each-time", "each notification of a refund takes one purchase",
      hooks: BrokenHooks(before: { mock, call in
        guard let notice = try notice(in: call, mock), notice.type == "REFUND" else { return nil }
        let ids = Set(told(by: notice).map(\.transactionID))
        let isKnown = try mock.backend.model().reversals.contains {
          ids.contains($0.transaction.transactionID)
        }
        guard isKnown else { return nil }
        for id in ids { try takeNext(after: id, mock, now: call.now) }
        return nil
      })),
  ]

  /// Bugs of refunds of a part.
  static let refundedParts: [BrokenBackend] = [
    BrokenBackend(
      "refund-part-as-whole", "any date of a refund takes back the whole purchase",
      hooks: changingFacts { facts, _, _ in (facts.refundedShare, facts.shareToldAt) = (nil, nil) }),
    BrokenBackend(
      "refund-part-adds", "a later share of a refund is taken in addition to the earlier one",
      hooks: changingFacts { facts, mock, _ in
        guard let share = facts.refundedShare else { return }
        let id = facts.transactionID
        mock.brokenMemory.shares[id, default: []].insert(share.milliPercent)
        let sum = mock.brokenMemory.shares[id]?.reduce(0, +) ?? 0
        facts.refundedShare = RefundedShare(milliPercent: min(sum, 100_000))
      }),
    BrokenBackend(
      "refund-part-once", "a refund with a known date is known, whatever its share is",
      hooks: BrokenHooks(
        before: { mock, call in
          guard let notice = try notice(in: call, mock),
            told(by: notice).contains(where: { $0.refundedShare != nil && knownShare(of: $0, mock) != nil })
          else { return nil }
          return try JSONBody.response(EmptyDocument())
        },
        hears: changingFacts { facts, mock, _ in
          guard let share = facts.refundedShare else { return }
          let known = knownShare(of: facts, mock) ?? share.milliPercent
          mock.brokenMemory.shares[facts.transactionID] = [known]
          facts.refundedShare = RefundedShare(milliPercent: known)
        }.hears)),
    BrokenBackend(
      "refund-part-told-whole", "verdicts say that all was refunded",
      hooks: BrokenHooks(verdicts: { _, reply, _, _ in
        for index in reply.verdicts.indices where reply.verdicts[index].refundedShare != nil {
          reply.verdicts[index].refundedShare = 100_000
        }
      })),
    BrokenBackend(
      "refund-part-public", "verdicts tell other accounts how much was refunded",
      hooks: BrokenHooks(verdicts: { mock, reply, _, _ in
        for index in reply.verdicts.indices where reply.verdicts[index].verdict == .refunded {
          let id = reply.verdicts[index].transactionID
          let known = try mock.backend.model().reversals.last { $0.transaction.transactionID == id }
          reply.verdicts[index].refundedUnits = known?.units ?? reply.verdicts[index].refundedUnits
        }
      })),
    BrokenBackend(
      "refund-part-kept", "a refund of less than all takes nothing back",
      hooks: changingFacts { facts, _, _ in
        if facts.refundedShare ?? .whole < .whole { facts.revocationDate = nil }
      }),
  ]

  /// Bugs of notifications.
  static let notifications: [BrokenBackend] = [
    BrokenBackend(
      "notifications-ignored", "notifications are answered 200, and ignored",
      hooks: BrokenHooks(before: { mock, call in
        try notice(in: call, mock).map { _ in try JSONBody.response(EmptyDocument()) }
      })),
    BrokenBackend(
      "refund-notes-ignored", "notifications of refunds are ignored",
      hooks: BrokenHooks(before: { mock, call in
        guard let notice = try notice(in: call, mock), notice.type.hasPrefix("REFUND") else { return nil }
        return try JSONBody.response(EmptyDocument())
      })),
    BrokenBackend(
      "renewal-notes-ignored", "notifications of renewals are ignored",
      hooks: BrokenHooks(before: { mock, call in
        guard let notice = try notice(in: call, mock), notice.type.hasPrefix("DID_RENEW") else { return nil }
        return try JSONBody.response(EmptyDocument())
      })),
    BrokenBackend(
      "notes-unverified", "notifications are believed without a signature",
      hooks: BrokenHooks(before: { mock, call in
        guard isNotification(call) else { return nil }
        let notice = try read(call, mock) { _ in true }
        guard !notice.lessons.isEmpty else { return nil }
        try mock.backend.change {
          $0.learn(notice.lessons, source: .notification(notice.type), now: call.now)
        }
        return try JSONBody.response(EmptyDocument())
      })),
    BrokenBackend(
      "version-1-believed", "an unsigned notification of version 1 is believed",
      hooks: BrokenHooks(before: { mock, call in
        guard isNotification(call), let body = json(of: call) else { return nil }
        let items = body["unified_receipt"]?["latest_receipt_info"]?.array ?? []
        let ids = items.filter { $0["cancellation_date_ms"] != nil }
          .compactMap { $0["transaction_id"]?.string }
        try write(mock) { model in
          model.credits.filter { ids.contains($0.transaction.transactionID) }
            .map { .reversal(Reversal(transaction: $0.transaction, at: call.now)) }
        }
        return nil
      })),
    BrokenBackend(
      "renewal-each-time", "each notification of a renewal credits a period",
      hooks: BrokenHooks(before: { mock, call in
        guard let notice = try notice(in: call, mock), notice.type.hasPrefix("DID_RENEW") else { return nil }
        for facts in told(by: notice) {
          // Nothing before the first time: there is no line yet.
          try credit(again: facts.transactionID, mock, now: call.now)
        }
        return nil
      })),
    BrokenBackend(
      "notes-grant", "a notification credits a purchase that no account claimed",
      hooks: BrokenHooks(before: { mock, call in
        guard let notice = try notice(in: call, mock) else { return nil }
        for facts in told(by: notice) where facts.revocationDate == nil {
          let isCredited = try mock.backend.model().periods(of: ChainKey(facts))
            .contains { try !mock.backend.model().credits(for: $0.transaction).isEmpty }
          guard !isCredited else { continue }
          try mock.backend.change {
            $0.learn(notice.lessons, source: .notification(notice.type), now: call.now)
          }
          try grant(facts.transactionID, to: .account("alice"), undoing: false, mock, now: call.now)
        }
        return nil
      })),
    BrokenBackend(
      "notes-need-credentials", "notifications without credentials are refused",
      hooks: BrokenHooks(before: { mock, call in
        if isNotification(call) { _ = try mock.credentials.sender(of: call.request) }
        return nil
      })),
    BrokenBackend(
      "bad-note-500", "a malformed notification is answered 500",
      hooks: BrokenHooks(answers: { response, call, _ in
        if isNotification(call), (400..<500).contains(response.status) { response.status = 500 }
      })),
  ]

  // MARK: Notifications

  static func isNotification(_ call: Route.Call) -> Bool {
    isCall(call, "POST", MockState.notificationPath)
  }

  /// The notification of a call; nil for another call. Throws for one that the backend refuses.
  static func notice(in call: Route.Call, _ mock: MockState) throws -> StoreNotice? {
    let forge = mock.store.forge
    return isNotification(call) ? try read(call, mock) { forge.verify($0) } : nil
  }

  static func read(
    _ call: Route.Call, _ mock: MockState, isSigned: (String) -> Bool
  ) throws -> StoreNotice {
    try JSONBody.check(call.request)
    do throws(StoreNotice.Refusal) {
      return try StoreNotice(
        json: Data(call.request.body), bundleID: mock.store.forge.bundleID, isSigned: isSigned, now: call.now)
    } catch {
      throw HTTPProblem.invalid("the notification is refused")
    }
  }

  /// The transactions in a signed notification.
  static func told(by notice: StoreNotice) -> [VerifiedTransaction] {
    notice.lessons.flatMap { $0.answer.report?.transactions ?? [] }
  }

  // MARK: Credits and facts

  /// The share of the first refund of this transaction that a planted bug has seen, in thousandths of a percent.
  private static func knownShare(of facts: VerifiedTransaction, _ mock: MockState) -> Int? {
    mock.brokenMemory.shares[facts.transactionID]?.first
  }

  /// Takes another purchase from the owner of this one.
  static func takeNext(after id: String, _ mock: MockState, now: Timestamp) throws {
    try write(mock) { model in
      let owner = model.credits.last { $0.transaction.transactionID == id }?.owner
      let next = model.credits.last { $0.owner == owner && !model.isReversed($0.transaction) }
      return next.map { [.reversal(Reversal(transaction: $0.transaction, at: now))] } ?? []
    }
  }

  /// Credits a known transaction, and undoes its refund if asked to.
  private static func grant(
    _ id: String, to owner: Uploader, undoing: Bool, _ mock: MockState, now: Timestamp
  ) throws {
    try write(mock) { model in
      guard let row = model.purchases.last(where: { $0.facts.transactionID == id }) else { return [] }
      var writes: [BackendWrite] = [
        .credit(model.credit(for: row.facts, to: owner, order: nil, cause: .granted, now: now))
      ]
      if undoing { writes.append(.reversal(Reversal(transaction: row.transaction, at: now, undoneAt: now))) }
      return writes
    }
  }

  /// Changes what the store says about each transaction of an upload.
  static func changingFacts(
    _ change: @escaping @Sendable (inout VerifiedTransaction, inout MockState, Timestamp) -> Void
  ) -> BrokenHooks {
    BrokenHooks(hears: { answer, _, _, mock, now in
      guard var report = answer.report else { return }
      for index in report.transactions.indices { change(&report.transactions[index], &mock, now) }
      answer.outcome = .genuine(report)
    })
  }
}

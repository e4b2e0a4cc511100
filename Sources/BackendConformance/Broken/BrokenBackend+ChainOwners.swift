import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  /// Bugs about who owns the periods of a subscription.
  static let chainOwners: [BrokenBackend] = [
    BrokenBackend(
      "chain-keeps-order", "a subscription that is bought again fulfils no order",
      hooks: changingFacts { facts, mock, _ in
        if isLater(facts), credit(of: facts.originalTransactionID, mock) == nil {
          facts.appAccountToken = nil
        }
      }),
    BrokenBackend(
      "chain-over-token", "the account of the period before counts against a token",
      hooks: changingFacts { facts, mock, _ in
        if isLater(facts), credit(of: facts.originalTransactionID, mock) != nil {
          facts.appAccountToken = nil
        }
      }),
    BrokenBackend(
      "renewals-noted-anyones", "a renewal that a notification told of goes to who uploads it",
      hooks: taking { verdict, _, facts, wasCredited, _, _ in
        verdict == .otherOwner && wasCredited && isLater(facts) && facts.reason == .renewal
      }),
    BrokenBackend(
      "renewals-to-device", "a renewal that a device uploads is the device's",
      hooks: taking { verdict, line, facts, _, _, sender in
        sender.account == nil && line.owner.account != nil && isLater(facts)
          && [.granted, .duplicate, .otherOwner].contains(verdict)
      }),
    BrokenBackend(
      "renewals-from-device", "the renewal of a device's subscription goes to the account that is signed in",
      hooks: BrokenHooks(verdicts: { mock, reply, call, _ in
        guard let account = try mock.credentials.signedInIfAny(of: call.request) else { return }
        let model = try mock.backend.model()
        for index in reply.verdicts.indices where reply.verdicts[index].owner == .device {
          guard var line = credit(of: reply.verdicts[index].transactionID, mock),
            let facts = model.purchase(line.transaction)?.facts, isLater(facts)
          else { continue }
          line.owner = .account(account)
          try write(mock) { _ in [.creditMoved(line)] }
          reply.verdicts[index].owner = .yours
        }
      })),
    BrokenBackend(
      "adoption-without-renewals", "the renewal of an adopted subscription goes to who uploads it",
      hooks: taking { verdict, _, facts, _, model, _ in
        guard verdict == .otherOwner, isLater(facts) else { return false }
        let first = model.credits.last { $0.transaction.transactionID == facts.originalTransactionID }
        return first.map { $0.owner.account == nil && model.owner(of: $0).account != nil } ?? false
      }),
  ]

  /// Further bugs of devices and adoptions.
  static let adoptions: [BrokenBackend] = [
    BrokenBackend(
      "adopts-later", "what a device buys after an adoption is the account's",
      hooks: BrokenHooks(
        before: { mock, call in
          if let (device, account) = try adoption(in: call, mock) {
            mock.brokenMemory.adopters[device] = mock.brokenMemory.adopters[device] ?? account
          }
          return nil
        },
        verdicts: { mock, reply, call, credited in
          guard case .device(let device) = try mock.credentials.sender(of: call.request).uploader,
            let account = mock.brokenMemory.adopters[device]
          else { return }
          for index in reply.verdicts.indices where reply.verdicts[index].verdict == .granted {
            let id = reply.verdicts[index].transactionID
            guard !credited.contains(id), var line = credit(of: id, mock) else { continue }
            line.owner = .account(account)
            try write(mock) { _ in [.creditMoved(line)] }
            reply.verdicts[index].owner = .yours
          }
        })),
    BrokenBackend(
      "adopts-uploaded", "an adoption covers only what was uploaded before it",
      hooks: changingFacts { facts, mock, now in
        // The purchase counts as paid when it comes.
        let id = facts.transactionID
        let isKnown = model(mock)?.purchases.contains { $0.facts.transactionID == id } ?? true
        if !isKnown { facts.purchaseDate = now.milliseconds }
      }),
    BrokenBackend(
      "adopts-once", "a second adoption of a device does nothing",
      hooks: BrokenHooks(before: { mock, call in
        guard let (device, account) = try adoption(in: call, mock) else { return nil }
        defer { mock.brokenMemory.adopters[device] = account }
        guard mock.brokenMemory.adopters[device] != nil else { return nil }
        return try JSONBody.response(AdoptionDocument(device: device))
      })),
    BrokenBackend(
      "adopts-orders", "an adoption moves what another account has bought on the device",
      hooks: BrokenHooks(before: { mock, call in
        try adopt(in: call, mock) { line, device, model in
          line.orderNumber != nil && model.purchase(line.transaction)?.device == device
        }
      })),
    BrokenBackend(
      "adoption-untold", "an adopted purchase is told as the device's",
      hooks: BrokenHooks(verdicts: { mock, reply, _, _ in
        for index in reply.verdicts.indices where reply.verdicts[index].owner == .yours {
          if credit(of: reply.verdicts[index].transactionID, mock)?.owner.account == nil {
            reply.verdicts[index].owner = .device
          }
        }
      })),
    BrokenBackend(
      "adoption-without-refunds", "a refund of what nobody got is told as the device's, adopted or not",
      hooks: BrokenHooks(verdicts: { mock, reply, call, _ in
        guard try mock.credentials.sender(of: call.request).uploader.account == nil else { return }
        for index in reply.verdicts.indices where reply.verdicts[index].verdict == .refunded {
          let id = reply.verdicts[index].transactionID
          let row = try mock.backend.model().purchases.last { $0.facts.transactionID == id }
          guard credit(of: id, mock) == nil, row?.facts.appAccountToken == nil else { continue }
          reply.verdicts[index].owner = .device
        }
      })),
    BrokenBackend(
      "adoption-needs-purchases", "the adoption of a device that has bought nothing is a 404",
      hooks: BrokenHooks(before: { mock, call in
        guard let (device, _) = try adoption(in: call, mock) else { return nil }
        guard try !mock.backend.model().credits.contains(where: { $0.owner == .device(device) }) else {
          return nil
        }
        throw HTTPProblem.notFound("no such device")
      })),
    BrokenBackend(
      "first-phone-only", "a purchase without an account stays with the first phone",
      hooks: changingFacts { facts, mock, _ in
        if credit(of: facts.transactionID, mock)?.owner.account == nil { facts.isConsumable = true }
      }),
    BrokenBackend(
      "device-beside-refuses", "an account's upload with a wrong secret of its device is refused",
      hooks: BrokenHooks(before: { mock, call in
        guard let header = call.request.headers[BackendRequest.deviceHeader], let name = device(in: header),
          let known = try mock.backend.model().devices[name], !header.hasSuffix(known)
        else { return nil }
        throw HTTPProblem(status: 403, type: "device", title: "Another secret")
      })),
    BrokenBackend(
      "device-beside-ignored", "a device's name beside an account's credential is not bound to a secret",
      hooks: BrokenHooks(before: { _, call in
        call.request.headers[BackendRequest.deviceHeader] = nil
        return nil
      })),
  ]

  /// Whether it is a later transaction of a subscription.
  static func isLater(_ facts: VerifiedTransaction) -> Bool {
    facts.originalTransactionID != facts.transactionID && facts.expiresDate != nil
  }

  /// Gives a credited transaction to the sender after the judgement, if `isTaken` says so: by the verdict, its line, its
  /// facts, whether it was credited before, what the backend knows, and the sender.
  private static func taking(
    _ isTaken:
      @escaping @Sendable (Verdict, Credit, VerifiedTransaction, Bool, BackendModel, Uploader) -> Bool
  ) -> BrokenHooks {
    BrokenHooks(verdicts: { mock, reply, call, credited in
      let sender = try mock.credentials.sender(of: call.request).uploader
      for index in reply.verdicts.indices {
        let id = reply.verdicts[index].transactionID
        let model = try mock.backend.model()
        guard let line = model.credits.last(where: { $0.transaction.transactionID == id }),
          line.owner != sender, let facts = model.purchase(line.transaction)?.facts,
          isTaken(reply.verdicts[index].verdict, line, facts, credited.contains(id), model, sender)
        else { continue }
        var moved = line
        moved.owner = sender
        try write(mock) { _ in [.creditMoved(moved)] }
        reply.verdicts[index].verdict = .granted
        reply.verdicts[index].owner = sender.account == nil ? .device : .yours
      }
    })
  }
}

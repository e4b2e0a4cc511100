import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  /// Bugs by which the wrong account gets a purchase, or learns of it.
  static let owners: [BrokenBackend] = [
    BrokenBackend(
      "per-account", "each account is credited once for a transaction",
      hooks: BrokenHooks(verdicts: { mock, reply, call, credited in
        let uploader = try mock.credentials.sender(of: call.request).uploader
        for index in reply.verdicts.indices where reply.verdicts[index].verdict == .otherOwner {
          let id = reply.verdicts[index].transactionID
          guard credited.contains(id) else { continue }
          try credit(again: id, to: uploader, mock, now: call.now)
          reply.verdicts[index].verdict = .granted
        }
      })),
    BrokenBackend(
      "credits-uploader", "the sender gets the purchase, not the owner of its order",
      hooks: BrokenHooks(
        before: { _, call in
          guard var upload = call.request.upload else { return nil }
          for index in upload.claims.indices {
            upload.claims[index].match = .none
            upload.claims[index].orderNumber = nil
          }
          try replace(upload, in: &call)
          return nil
        }, hears: { answer, _, _, _, _ in forget(\.appAccountToken, in: &answer) { _ in true } })),
    BrokenBackend(
      "token-ignored", "the account token in the proof is ignored",
      hooks: BrokenHooks(hears: { answer, _, _, _, _ in
        forget(\.appAccountToken, in: &answer) { _ in true }
      })),
    BrokenBackend(
      "token-case", "a token in small letters is not the one in capitals",
      hooks: BrokenHooks(hears: { answer, _, _, _, _ in
        forget(\.appAccountToken, in: &answer) { $0 != $0.uppercased() }
      })),
    BrokenBackend(
      "claimed-order-wins", "the order of the claim counts against the token",
      hooks: BrokenHooks(hears: { answer, _, claims, _, _ in
        guard claims.contains(where: { $0.match == .bound }) else { return }
        forget(\.appAccountToken, in: &answer) { _ in true }
      })),
    BrokenBackend(
      "one-payment", "a second payment of an order is told as a duplicate",
      hooks: BrokenHooks(before: { mock, call in
        guard let upload = call.request.upload else { return nil }
        let model = try mock.backend.model()
        let isSecond = upload.claims.contains { claim in
          let order = claim.orderNumber.flatMap { model.order(number: $0) }
          return order?.fulfilledBy.map { $0.transactionID != claim.transactionID } ?? false
        }
        return isSecond ? try all(.duplicate, of: upload, mock) : nil
      })),
    BrokenBackend(
      "family-refused", "a purchase that a family shares is rejected",
      hooks: BrokenHooks(hears: { answer, _, _, _, _ in
        if answer.report?.transactions.contains(where: { $0.ownership == .familyShared }) == true {
          answer.outcome = .refused
        }
      })),
    BrokenBackend(
      "names-orders", "verdicts name the orders of other accounts",
      hooks: BrokenHooks(verdicts: { mock, reply, _, _ in
        let credits = try mock.backend.model().credits
        for index in reply.verdicts.indices where reply.verdicts[index].verdict == .otherOwner {
          let id = reply.verdicts[index].transactionID
          let credit = credits.last { $0.transaction.transactionID == id }
          reply.verdicts[index].orderNumber = credit?.orderNumber
        }
      })),
    BrokenBackend(
      "owner-untold", "verdicts do not say whose purchase it is",
      hooks: BrokenHooks(verdicts: { _, reply, _, _ in
        for index in reply.verdicts.indices { reply.verdicts[index].owner = nil }
      })),
    BrokenBackend(
      "credits-signed-in", "a device's uploads go to the account that is signed in",
      hooks: BrokenHooks(before: { _, call in
        if call.request.upload != nil, let account = call.request.headers[BackendRequest.signedInHeader] {
          call.request.headers["Authorization"] = account
        }
        return nil
      })),
    BrokenBackend(
      "claims-all", "all of a receipt is granted, claimed or not",
      hooks: BrokenHooks(
        before: { mock, call in
          guard var upload = call.request.upload, upload.claims.count == 1, let proof = upload.proofs.first,
            proof.kind == .appReceipt
          else { return nil }
          let answer = mock.ask(.proof(proof), answers: call.answers, now: call.now)
          for told in answer.report?.transactions ?? []
          where told.transactionID != upload.claims[0].transactionID {
            var claim = upload.claims[0]
            (claim.transactionID, claim.productID) = (told.transactionID, told.productID)
            (claim.quantity, claim.match, claim.orderNumber) = (told.quantity, .none, nil)
            upload.claims.append(claim)
            let query = VerificationQuery.transaction(
              environment: told.environment.rawValue, id: told.transactionID)
            call.answers[query] = StoreAnswer(.genuine(StoreReport([told])))
          }
          try replace(upload, in: &call)
          return nil
        }, hears: forgetsTokensOfReceipts)),
    BrokenBackend(
      "receipt-tokens-unasked", "the store is not asked for the token of what only a receipt proves",
      hooks: BrokenHooks(hears: forgetsTokensOfReceipts)),
  ]

  /// Hears no token of what only a receipt proves.
  private static let forgetsTokensOfReceipts: BrokenHooks.Hears = { answer, query, claims, _, _ in
    guard case .transaction = query, claims.contains(where: { $0.proof != nil }) else { return }
    forget(\.appAccountToken, in: &answer) { _ in true }
  }

  /// Bugs of devices and adoptions.
  static let devices: [BrokenBackend] = [
    BrokenBackend(
      "adopts-again", "the second account that adopts a device gets its purchases",
      hooks: BrokenHooks(before: { mock, call in
        try adopt(in: call, mock) { credit, device, model in
          credit.orderNumber == nil && model.purchase(credit.transaction)?.device == device
        }
      })),
    BrokenBackend(
      "adopts-all", "an adoption moves the purchases of all devices",
      hooks: BrokenHooks(before: { mock, call in
        try adopt(in: call, mock) { credit, _, model in model.owner(of: credit).account == nil }
      })),
    BrokenBackend(
      "adopts-twice", "a repeated adoption credits the purchases again",
      hooks: BrokenHooks(before: { mock, call in
        guard let (device, account) = try adoption(in: call, mock) else { return nil }
        let model = try mock.backend.model()
        for line in model.credits
        where line.owner == .device(device) && model.owner(of: line) == .account(account) {
          try credit(again: line.transaction.transactionID, mock, now: call.now)
        }
        return nil
      })),
    BrokenBackend(
      "adoption-unnamed", "the answer to an adoption does not name the device",
      hooks: BrokenHooks(answers: { response, call, _ in
        guard isCall(call, "POST", "/v1/adoptions"), response.status == 200 else { return }
        response = try JSONBody.response(EmptyDocument())
      })),
    BrokenBackend(
      "device-secret-ignored", "any secret is valid for a device",
      hooks: BrokenHooks(before: { mock, call in
        guard let device = device(in: call.request.headers["Authorization"]),
          let secret = try mock.backend.model().devices[device]
        else { return nil }
        call.request.headers["Authorization"] = "Device \(device.uuidString):\(secret)"
        return nil
      })),
    BrokenBackend(
      "device-name-ignored", "a device uploads in the name of another one",
      hooks: BrokenHooks(before: { _, call in
        guard var upload = call.request.upload, let device = device(in: call.request.headers["Authorization"])
        else { return nil }
        upload.device = device
        try replace(upload, in: &call)
        return nil
      })),
    BrokenBackend(
      "adoption-by-name", "an account adopts a device by its name alone",
      hooks: BrokenHooks(before: { mock, call in
        guard isCall(call, "POST", "/v1/adoptions"), let account = call.request.headers["Authorization"],
          account.hasPrefix("Bearer ")
        else { return nil }
        let name = try JSONBody.decode(AdoptionDocument.self, from: call.request).device
        let secret = try mock.backend.model().devices[name] ?? "none"
        call.request.headers["Authorization"] = "Device \(name.uuidString):\(secret)"
        call.request.headers[BackendRequest.signedInHeader] = account
        return nil
      })),
    BrokenBackend(
      "signed-in-unchecked", "a wrong token beside a device's credential is ignored",
      hooks: BrokenHooks(before: { mock, call in
        guard call.request.headers[BackendRequest.signedInHeader] != nil else { return nil }
        do {
          _ = try mock.credentials.signedIn(of: call.request)
        } catch {
          call.request.headers[BackendRequest.signedInHeader] = nil
        }
        return nil
      })),
  ]

  /// The device and the account of an adoption with both credentials, which are right; nil for another call.
  static func adoption(in call: Route.Call, _ mock: MockState) throws -> (UUID, String)? {
    guard isCall(call, "POST", "/v1/adoptions"),
      case .device(let device, let secret) = try mock.credentials.sender(of: call.request),
      try JSONBody.decode(AdoptionDocument.self, from: call.request).device == device,
      try mock.backend.model().devices[device].map({ $0 == secret }) ?? true
    else { return nil }
    return (device, try mock.credentials.signedIn(of: call.request))
  }

  /// Moves credits to the account of an adoption, before it is handled. `takes` says which, of all.
  static func adopt(
    in call: Route.Call, _ mock: MockState, _ takes: (Credit, UUID, BackendModel) -> Bool
  ) throws -> HTTPResponse? {
    guard let (device, account) = try adoption(in: call, mock) else { return nil }
    try write(mock) { model in
      model.credits.filter { takes($0, device, model) }.map { credit in
        var moved = credit
        moved.owner = .account(account)
        return .creditMoved(moved)
      }
    }
    return nil
  }

  /// The device of a credential; nil for another credential.
  static func device(in header: String?) -> UUID? {
    guard let header, header.hasPrefix("Device ") else { return nil }
    return header.dropFirst(7).split(separator: ":").first.flatMap { UUID(uuidString: String($0)) }
  }

  /// Drops a text of each transaction for which the condition holds.
  static func forget(
    _ text: WritableKeyPath<VerifiedTransaction, String?>, in answer: inout StoreAnswer,
    where isForgotten: (String) -> Bool
  ) {
    guard var report = answer.report else { return }
    for index in report.transactions.indices {
      if let known = report.transactions[index][keyPath: text], isForgotten(known) {
        report.transactions[index][keyPath: text] = nil
      }
    }
    answer.outcome = .genuine(report)
  }
}

import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting
import Testing

/// The backend's rules over HTTP.
struct WorldBackendTests {
  @Test func `the same upload from many connections at once is granted once`() async throws {
    let world = try WorldFixture()
    let order = try await world.order()
    let payment = try await world.pay(token: order.accountToken)
    let verdicts = try await withThrowingTaskGroup(of: Verdict?.self) { group in
      for _ in 0..<24 {
        group.addTask { try await world.upload(payment, order: order.number)?.verdict }
      }
      var verdicts: [Verdict?] = []
      for try await verdict in group { verdicts.append(verdict) }
      return verdicts
    }
    #expect(verdicts.count { $0 == .granted } == 1)
    #expect(verdicts.count { $0 == .duplicate } == 23)
    let snapshot = try world.server.snapshot()
    #expect(snapshot.doubledCredits == 0 && snapshot.credits.count == 1)
  }

  private func notice(_ kind: ServerNotificationV1.Kind, about ids: [String]) -> JSONValue {
    [
      "notification_type": .string(kind.rawValue), "environment": "PROD",
      "unified_receipt": [
        "environment": "Production",
        "latest_receipt_info": .array(ids.map { ["transaction_id": .string($0)] }),
      ],
    ]
  }

  @Test(arguments: [ServerNotificationV1.Kind.didRenew, .didRecover, .interactiveRenewal, .renewal])
  func `a renewal that only version 1 tells of prolongs what was granted`(kind: ServerNotificationV1.Kind)
    async throws
  {
    let world = try WorldFixture()
    let bought = try world.server.withStore { store throws(StoreModelError) in
      try store.pay(
        product: "monthly", quantity: 1, accountToken: nil, storeAccount: "apple", now: Sample.now)
    }
    let jws = try world.server.withStore { store throws(StoreModelError) in
      try store.signedTransaction(for: bought.transactionID, now: Sample.now)
    }
    let upload = UploadRequest(
      device: UUID(), proof: ProofDocument(kind: .signedTransaction, data: jws),
      claims: [Sample.claim(for: bought)])
    let reply = try await world.send(
      "POST", "/v1/receipts", WorldFixture.bearer("alice"), body: JSONEncoder().encode(upload))
    #expect(try reply.decode(UploadReply.self).verdicts.map(\.verdict) == [.granted])
    let renewed = try world.server.withStore { store throws(StoreModelError) in
      try store.renew(
        transactionID: bought.transactionID, now: Sample.now.adding(milliseconds: 29 * Sample.day))
    }
    let body = notice(kind, about: [bought.transactionID, renewed.transactionID])
    for _ in 0..<2 {
      #expect(try await world.send("POST", "/v1/notifications/appstore", body: body.data).status == 200)
    }
    let snapshot = try world.server.snapshot()
    #expect(snapshot.credits.map(\.cause) == [.granted, .renewal])
    #expect(snapshot.creditOwners == [.account("alice"), .account("alice")])
  }

  @Test func `while the store does not answer, a notification is to be posted again`() async throws {
    let rule = FaultPlan.Rule(pathPrefix: "/store/verify", from: 2, fault: .dropBeforeCommit)
    let world = try WorldFixture(faults: FaultPlan([rule]))
    let payment = try await world.pay()
    #expect(try await world.upload(payment)?.verdict == .granted)
    try world.server.withStore { store throws(StoreModelError) in
      _ = try store.refund(transactionID: payment.transactionID, now: Sample.now)
    }
    let body = notice(.refund, about: [payment.transactionID])
    #expect(try await world.send("POST", "/v1/notifications/appstore", body: body.data).status == 503)
    #expect(try world.server.snapshot().reversals.isEmpty)
    #expect(try await world.send("POST", "/v1/notifications/appstore", body: body.data).status == 200)
    #expect(try world.server.snapshot().reversals.count == 1)
  }

  @Test func `an account's entitlements tell their end and what was not charged for`() async throws {
    let world = try WorldFixture()
    let payment = try await world.pay()
    _ = try await world.upload(payment)
    let held = try await world.send("GET", "/v1/entitlements", WorldFixture.bearer("alice"))
    let text = String(decoding: held.body, as: UTF8.self)
    #expect(
      text
        == #"{"entitlements":[{"environment":"Production","productID":"coins","quantity":1,"sandbox":false}]}"#
    )
  }
}

import AppStoreDocuments
import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// The backend's rules over HTTP.
struct MockServerBackendTests {
  @Test func `the same upload from many connections at once is granted once`() async throws {
    let fixture = try MockServerFixture()
    let order = try await fixture.order()
    let payment = try await fixture.pay(token: order.accountToken)
    let verdicts = try await withThrowingTaskGroup(of: Verdict?.self) { group in
      for _ in 0..<24 {
        group.addTask { try await fixture.upload(payment, order: order.number)?.verdict }
      }
      var verdicts: [Verdict?] = []
      for try await verdict in group { verdicts.append(verdict) }
      return verdicts
    }
    #expect(verdicts.count { $0 == .granted } == 1)
    #expect(verdicts.count { $0 == .duplicate } == 23)
    let snapshot = try fixture.server.snapshot()
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
  func `a renewal known only from version 1 prolongs the grant`(kind: ServerNotificationV1.Kind)
    async throws
  {
    let fixture = try MockServerFixture()
    let bought = try fixture.server.withStore { store throws(StoreModelError) in
      try store.pay(
        product: "monthly", quantity: 1, accountToken: nil, storeAccount: "apple", now: Sample.now)
    }
    let jws = try fixture.server.withStore { store throws(StoreModelError) in
      try store.signedTransaction(for: bought.transactionID, now: Sample.now)
    }
    let upload = UploadRequest(
      device: UUID(), proof: ProofDocument(kind: .signedTransaction, data: jws),
      claims: [Sample.claim(for: bought)])
    let reply = try await fixture.send(
      "POST", "/v1/receipts", MockServerFixture.bearer("alice"), body: JSONEncoder().encode(upload))
    #expect(try reply.decode(UploadReply.self).verdicts.map(\.verdict) == [.granted])
    let renewed = try fixture.server.withStore { store throws(StoreModelError) in
      try store.renew(
        transactionID: bought.transactionID, now: Sample.now.adding(milliseconds: 29 * Sample.day))
    }
    let body = notice(kind, about: [bought.transactionID, renewed.transactionID])
    for _ in 0..<2 {
      #expect(try await fixture.send("POST", "/v1/notifications/appstore", body: body.data).status == 200)
    }
    let snapshot = try fixture.server.snapshot()
    #expect(snapshot.credits.map(\.cause) == [.granted, .renewal])
    #expect(snapshot.creditOwners == [.account("alice"), .account("alice")])
  }

  @Test func `while the store does not answer, a notification is to be posted again`() async throws {
    let rule = FaultPlan.Rule(path: "/store/verify", from: 2, fault: .dropBeforeCommit)
    let fixture = try MockServerFixture(faults: FaultPlan([rule]))
    let payment = try await fixture.pay()
    #expect(try await fixture.upload(payment)?.verdict == .granted)
    try fixture.server.withStore { store throws(StoreModelError) in
      _ = try store.refund(transactionID: payment.transactionID, now: Sample.now)
    }
    let body = notice(.refund, about: [payment.transactionID])
    #expect(try await fixture.send("POST", "/v1/notifications/appstore", body: body.data).status == 503)
    #expect(try fixture.server.snapshot().reversals.isEmpty)
    #expect(try await fixture.send("POST", "/v1/notifications/appstore", body: body.data).status == 200)
    #expect(try fixture.server.snapshot().reversals.count == 1)
  }

  @Test func `entitlements have their end and a mark if they are free of charge`() async throws {
    let fixture = try MockServerFixture()
    let payment = try await fixture.pay()
    _ = try await fixture.upload(payment)
    let held = try await fixture.send("GET", "/v1/entitlements", MockServerFixture.bearer("alice"))
    let text = String(decoding: held.body, as: UTF8.self)
    #expect(
      text
        == #"{"entitlements":[{"environment":"Production","productID":"coins","quantity":1,"sandbox":false}]}"#
    )
  }
}

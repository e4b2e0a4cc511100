import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// Refunds of a part at the mock store, and the notification about them.
struct StoreRefundTests {
  private static func paid(_ quantity: Int) throws -> (StoreModel, String) {
    var store = Sample.store()
    let record = try store.pay(
      product: "coins", quantity: quantity, accountToken: nil, storeAccount: "a", now: Sample.now)
    return (store, record.transactionID)
  }

  private static func later(_ days: Int64) -> Timestamp { Sample.now.adding(milliseconds: days * Sample.day) }

  @Test(
    arguments: [
      (.units(1), 33_333, "REFUND_PRORATED"), (.units(2), 66_667, "REFUND_PRORATED"),
      (.units(3), nil, "REFUND_FULL"),
      (.whole, nil, "REFUND_FULL"), (.share(.whole), nil, "REFUND_FULL"),
      (.share(RefundedShare(milliPercent: 40_000) ?? .whole), 40_000, "REFUND_PRORATED"),
    ] as [(RefundExtent, Int64?, String)])
  func `a refund is signed with its type and share`(extent: RefundExtent, share: Int64?, type: String) throws
  {
    var (store, id) = try Self.paid(3)
    let record = try store.refund(transactionID: id, extent, now: Sample.now)
    let signed = try SignedTransaction(jws: Sample.forge.signedTransaction(record, signedAt: Sample.now))
    #expect(signed.revocationPercentage == share)
    #expect(signed.revocationType?.rawValue == type)
    #expect(signed.revocationDate == Sample.now.milliseconds)
    #expect(signed.refundFinding == nil)
  }

  @Test(
    arguments: [
      .units(0), .units(-1), .units(4), .units(.max), .units(.min), .timeLeft,
      .share(RefundedShare(milliPercent: 0) ?? .whole),
    ] as [RefundExtent])
  func `a part that the purchase has not is refused`(extent: RefundExtent) throws {
    var (store, id) = try Self.paid(3)
    #expect(throws: StoreModelError.invalidRefund(id)) {
      try store.refund(transactionID: id, extent, now: Sample.now)
    }
    #expect(store.transaction(id)?.revokedAt == nil)
  }

  @Test func `a larger part keeps the date and is delivered and notified once more`() throws {
    var (store, id) = try Self.paid(3)
    try store.finish(transactionID: id, at: Sample.now)
    store.notifications.versions = [.two]
    for (extent, days, isNews) in [
      (.units(1), 1, true), (.units(1), 2, false), (.units(2), 3, true), (.whole, 4, true),
      (.units(1), 5, true),
    ] as [(RefundExtent, Int64, Bool)] {
      let record = try store.refund(transactionID: id, extent, now: Self.later(days))
      #expect(record.revokedAt == Self.later(1))
      #expect(store.unfinished(storeAccount: "a").count == (isNews ? 1 : 0))
      #expect(store.takeNotifications(now: Self.later(days)).map(\.kind) == (isNews ? ["REFUND"] : []))
      try store.finish(transactionID: id, at: Self.later(days))
    }
    let back = try store.reverseRefund(transactionID: id, now: Self.later(6))
    #expect(back.revokedAt == nil && back.refundedShare == nil)
  }

  @Test func `a refund of the time that is left ends the subscription and says how much it was`() throws {
    var store = Sample.store()
    let paid = try store.buy("monthly")
    let refunded = try store.refund(transactionID: paid.transactionID, .timeLeft, now: Self.later(10))
    #expect(refunded.refundedShare?.milliPercent == 66_666)
    #expect(refunded.isTakenBack)
    #expect(store.subscription(of: paid.transactionID)?.state == .revoked)
    #expect(throws: StoreModelError.invalidRefund(paid.transactionID)) {
      try store.refund(transactionID: paid.transactionID, .timeLeft, now: Self.later(31))
    }
    try store.reverseRefund(transactionID: paid.transactionID, now: Self.later(11))
    #expect(store.subscription(of: paid.transactionID)?.state == .active)
  }

  @Test(
    arguments: [
      (#""units":1"#, 200, 33_333), (#""share":40000"#, 200, 40_000), (#""units":null"#, 200, nil),
      (#""units":0"#, 422, nil), (#""units":4"#, 422, nil), (#""share":100001"#, 422, nil),
      (#""share":-1"#, 422, nil),
      (#""share":0"#, 422, nil), (#""units":1,"share":1"#, 422, nil), (#""timeLeft":true"#, 422, nil),
      (#""parts":1"#, 400, nil),
    ] as [(String, Int, Int64?)])
  func `the route refunds a part and answers with its notification`(
    member: String, status: Int, share: Int64?
  )
    async throws
  {
    let fixture = try MockServerFixture()
    let payment = try await fixture.send(
      "POST", "/store/payments", json: #"{"storeAccount":"apple","productID":"coins","quantity":3}"#
    ).decode(MockServerFixture.Payment.self)
    let reply = try await fixture.send(
      "POST", "/store/refunds", json: #"{"transactionID":"\#(payment.transactionID)",\#(member)}"#)
    #expect(reply.status == status)
    guard status == 200 else { return }
    let payload = try #require(try JSONValue(json: reply.body)["signedPayload"]?.string)
    let notification = try ServerNotificationV2(jws: payload)
    let signed = try SignedTransaction(jws: try #require(notification.details?.signedTransaction))
    #expect(notification.kind == .refund)
    #expect(signed.revocationPercentage == share)
  }

  @Test(arguments: [
    ("coins", #""refundPreference":"GRANT_PRORATED""#, false),
    ("coins", #""refundPreference":"GRANT_PRORATED","consumptionPercentage":0"#, false),
    ("coins", #""refundPreference":"GRANT_PRORATED","consumptionPercentage":1"#, true),
    ("pro", #""refundPreference":"GRANT_PRORATED""#, false),
    ("coins", #""refundPreference":"GRANT_FULL""#, true), ("coins", #""consumptionPercentage":0"#, true),
    ("monthly", #""refundPreference":"GRANT_PRORATED""#, true),
    ("monthly", #""refundPreference":"GRANT_PRORATED","consumptionPercentage":1"#, false),
    ("monthly", #""consumptionPercentage":0"#, false), ("monthly", #""consumptionPercentage":null"#, true),
  ])
  func `a report that prorates says what was used, and of a subscription it does not`(
    product: String, members: String, isTaken: Bool
  ) throws {
    var store = Sample.store()
    let id = try store.buy(product).transactionID
    let body =
      #"{"customerConsented":true,"sampleContentProvided":true,"deliveryStatus":"DELIVERED",\#(members)}"#
    let report = try ConsumptionReport(version: 2, body: JSONValue(json: body), now: Sample.now)
    #expect(apiError { try store.takeConsumption(report, of: id) } == (isTaken ? nil : .badRequest))
  }
}

import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// Where the store posts notifications, and those that other tests do not cause.
struct NotificationSettingTests {
  private func told(_ act: (inout Shop) throws -> Void) throws -> [String] {
    var shop = Shop()
    shop.store.notifications.versions = [.two]
    try act(&shop)
    return shop.store.takeNotifications(now: shop.now).map {
      [$0.kind, $0.subtype].compactMap(\.self).joined(separator: " ")
    }
  }

  @Test func `a refund is asked for, declined, made and reversed`() throws {
    let told = try told { shop in
      let paid = try shop.store.buy()
      try shop.store.requestRefund(transactionID: paid.transactionID, now: shop.now)
      try shop.store.declineRefund(transactionID: paid.transactionID, now: shop.now)
      try shop.store.refund(transactionID: paid.transactionID, now: shop.now)
      try shop.store.reverseRefund(transactionID: paid.transactionID, now: shop.now)
    }
    #expect(
      told == ["ONE_TIME_CHARGE", "CONSUMPTION_REQUEST", "REFUND_DECLINED", "REFUND", "REFUND_REVERSED"])
  }

  @Test(arguments: [
    ("silver", "OFFER_REDEEMED"), ("gold", "OFFER_REDEEMED UPGRADE"), ("bronze", "OFFER_REDEEMED DOWNGRADE"),
  ])
  func `a code for a subscriber says whether the plan changes`(product: String, kind: String) throws {
    let told = try told { shop in
      _ = try shop.store.buy("silver")
      _ = try shop.store.redeem(offerCode: "code", product: product, storeAccount: "a", now: shop.now)
    }
    #expect(told.last == kind && !told.contains { $0.hasPrefix("DID_CHANGE_RENEWAL_PREF") })
  }

  private func set(_ server: MockServer, _ json: String) -> HTTPResponse {
    server.handler(
      HTTPRequest(
        method: "PUT", path: "/store/notifications", headers: ["Content-Type": "application/json"],
        body: Array(json.utf8)))
  }

  @Test func `place and versions can be set while the server runs`() throws {
    let fixture = try MockServerFixture()
    let reply = set(fixture.server, #"{"url":"https://example.com/hook?a=b","versions":[1,2]}"#)
    let document = try JSONValue(json: Data(reply.body))
    #expect(reply.status == 200 && document["url"]?.string == "https://example.com/hook?a=b")
    #expect(fixture.server.notificationURL?.absoluteString == "https://example.com/hook?a=b")
    #expect(fixture.server.withStore { $0.notifications.versions } == [.one, .two])
    #expect(set(fixture.server, #"{"url":""}"#).status == 200)
    #expect(fixture.server.notificationURL == nil)
    #expect(fixture.server.withStore { $0.notifications.versions } == [.one, .two])
  }

  @Test(arguments: [
    #"{"url":"ftp://example.com/"}"#, #"{"url":"example.com"}"#, #"{"url":"http://"}"#, #"{"versions":[3]}"#,
  ])
  func `a place that is none is refused`(json: String) throws {
    let fixture = try MockServerFixture()
    #expect(set(fixture.server, json).status == 422)
    #expect(fixture.server.notificationURL == nil)
  }
}

import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseQueue
import Testing

@testable import PurchaseSyncTesting

/// Each event leads to its notification in both versions, and each notification decodes (R3.10; StoreFacts d).
struct StoreNotificationTests {
  private typealias One = ServerNotificationV1
  private typealias Two = ServerNotificationV2

  /// A shop whose backend gets everything.
  private func shop(_ environment: StoreEnvironment = .production) -> Shop {
    var shop = Shop(environment)
    shop.store.notifications.versions = [.one, .two]
    shop.store.sharedSecret = SharedSecret("0f0f")
    return shop
  }

  /// The decoded notifications since the last call: types of version 1, and types of version 2 with their subtypes.
  private func told(_ shop: inout Shop) throws -> (one: [String], two: [String]) {
    var one: [String] = []
    var two: [String] = []
    for notification in shop.store.takeNotifications(now: shop.now) {
      let json = Data(notification.body.utf8)
      switch notification.version {
      case .one:
        let read = try One(json: json)
        #expect(read.unknownFields.isEmpty && read.password == shop.store.sharedSecret)
        #expect(read.bundleID == Sample.bundleID && read.storeEnvironment == shop.store.environment)
        let unified = try #require(read.unifiedReceipt)
        #expect(unified.status == .ok && unified.receipt == nil && unified.unknownFields.isEmpty)
        #expect(unified.latestTransactions.contains { $0.transactionID == notification.transactionID })
        one.append(read.kind.rawValue)
      case .two:
        let read = try Two(json: json)
        let details = try #require(read.details)
        #expect(read.unknownFields.isEmpty && details.unknownFields.isEmpty)
        #expect(read.id == notification.notificationID && UUID(uuidString: read.id ?? "") != nil)
        let transaction = try #require(try details.transaction())
        #expect(transaction.transactionID == notification.transactionID && transaction.unknownFields.isEmpty)
        #expect(shop.store.forge.verify(details.signedTransaction ?? ""))
        if transaction.kind == .autoRenewable { #expect(details.subscriptionState != nil) }
        two.append(read.kind.rawValue + (read.subtype.map { "/" + $0.rawValue } ?? ""))
      }
      shop.store.settleNotification(id: notification.id, status: 200, now: shop.now)
    }
    return (one, two)
  }

  private func expect(
    _ shop: inout Shop, _ one: [String], _ two: [String], _ location: SourceLocation = #_sourceLocation
  ) throws {
    let told = try told(&shop)
    #expect(told.one == one, sourceLocation: location)
    #expect(told.two == two, sourceLocation: location)
  }

  @Test func `notifications cover a subscription from the purchase to the refund`() throws {
    var shop = shop()
    let first = try shop.buy("gold")
    let id = first.transactionID
    try expect(&shop, ["INITIAL_BUY"], ["SUBSCRIBED/INITIAL_BUY"])
    shop.wait(days: 30)
    try expect(&shop, ["DID_RENEW"], ["DID_RENEW"])
    try shop.store.setRenewal(on: false, transactionID: id, now: shop.now)
    try shop.store.setRenewal(on: true, transactionID: id, now: shop.now)
    try expect(
      &shop, ["DID_CHANGE_RENEWAL_STATUS", "DID_CHANGE_RENEWAL_STATUS"],
      ["DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED"])
    try shop.store.changePlan(transactionID: id, to: "bronze", now: shop.now)
    try shop.store.changePlan(transactionID: id, to: "gold", now: shop.now)
    try shop.store.changePlan(transactionID: id, to: "gold.alike", now: shop.now)
    try expect(
      &shop, ["DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_PREF", "INTERACTIVE_RENEWAL"],
      [
        "DID_CHANGE_RENEWAL_PREF/DOWNGRADE", "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_PREF/UPGRADE",
      ])
    let last = try #require(shop.store.charges.last)
    try shop.store.requestRefund(transactionID: last.transactionID, now: shop.now)
    try shop.store.refund(transactionID: last.transactionID, now: shop.now)
    try shop.store.reverseRefund(transactionID: last.transactionID, now: shop.now)
    try expect(
      &shop, ["CONSUMPTION_REQUEST", "CANCEL"], ["CONSUMPTION_REQUEST", "REFUND", "REFUND_REVERSED"])
    shop.wait(days: 30)
    try expect(&shop, [], ["EXPIRED/VOLUNTARY"])
    try shop.buy("silver")
    try expect(&shop, ["INTERACTIVE_RENEWAL"], ["SUBSCRIBED/RESUBSCRIBE"])
  }

  @Test func `notifications cover a failed charge until its end`() throws {
    var shop = shop()
    try shop.buy("gold")
    shop.store.setBilling(works: false, storeAccount: "a", now: shop.now)
    _ = try told(&shop)
    shop.wait(days: 30)
    try expect(&shop, ["DID_FAIL_TO_RENEW"], ["DID_FAIL_TO_RENEW/GRACE_PERIOD"])
    shop.wait(days: 16)
    try expect(&shop, [], ["GRACE_PERIOD_EXPIRED"])
    var recovered = shop
    recovered.store.setBilling(works: true, storeAccount: "a", now: recovered.now)
    try expect(&recovered, ["DID_RECOVER"], ["DID_RENEW/BILLING_RECOVERY"])
    shop.wait(days: 44)
    try expect(&shop, [], ["EXPIRED/BILLING_RETRY"])
    try shop.store.redeem(offerCode: "X", product: "pro", storeAccount: "b", now: shop.now)
    try expect(&shop, [], ["ONE_TIME_CHARGE"])
  }

  @Test func `notifications cover prices, families, offers and one-time purchases`() throws {
    var shop = shop()
    let gold = try shop.buy("gold")
    shop.store.setFamily(of: "a", to: ["b"], now: shop.now)
    _ = try told(&shop)
    try shop.store.raisePrice(product: "gold", to: 10_000, needsConsent: true, now: shop.now)
    try expect(&shop, ["PRICE_INCREASE_CONSENT"], ["PRICE_INCREASE/PENDING"])
    var declined = shop
    try declined.store.answerPriceIncrease(
      transactionID: gold.transactionID, consents: false, now: shop.now)
    try expect(&declined, ["DID_CHANGE_RENEWAL_STATUS"], ["DID_CHANGE_RENEWAL_STATUS"])
    declined.wait(days: 30)
    try expect(&declined, [], ["EXPIRED/PRICE_INCREASE"])
    try shop.store.answerPriceIncrease(transactionID: gold.transactionID, consents: true, now: shop.now)
    try expect(&shop, [], ["PRICE_INCREASE/ACCEPTED"])
    shop.store.setFamily(of: "a", to: [], now: shop.now)
    try expect(&shop, ["REVOKE"], ["REVOKE"])
    try shop.store.redeem(offerCode: "SPRING", product: "gold", storeAccount: "a", now: shop.now)
    try expect(&shop, [], ["OFFER_REDEEMED"])
    let coins = try shop.buy("coins")
    try shop.store.finish(transactionID: coins.transactionID)
    try shop.store.refund(transactionID: coins.transactionID, now: shop.now)
    try expect(&shop, ["REFUND"], ["ONE_TIME_CHARGE", "REFUND"])
    try shop.store.setForSale(false, product: "gold")
    shop.wait(days: 30)
    try expect(&shop, [], ["EXPIRED/PRODUCT_NOT_FOR_SALE"])
  }

  @Test func `the sandbox leaves out the kinds that it does not send`() throws {
    var shop = shop(.sandbox)
    try shop.buy("gold")
    shop.store.setBilling(works: false, storeAccount: "a", now: shop.now)
    shop.wait(days: 30)
    try expect(
      &shop, ["INITIAL_BUY"], ["SUBSCRIBED/INITIAL_BUY", "DID_FAIL_TO_RENEW/GRACE_PERIOD"])
  }

  @Test func `a refund's notification names its moment and period, and the newest hundred transactions`()
    throws
  {
    var shop = shop()
    let gold = try shop.buy("gold")
    for _ in 0..<120 { try shop.buy("coins") }
    _ = try told(&shop)
    shop.wait(days: 30)
    shop.store.advance(to: shop.now)
    let last = try #require(shop.store.charges.last)
    _ = try told(&shop)
    try shop.store.refund(transactionID: last.transactionID, now: shop.now)
    let body = try #require(shop.store.notifications.waiting.first { $0.version == .one }?.body)
    let read = try One(json: Data(body.utf8))
    #expect(read.kind == .cancel && read.cancellationDate == shop.now.milliseconds)
    #expect(read.webOrderLineItemID == last.webOrderLineItemID)
    #expect(read.unifiedReceipt?.latestTransactions.count == 100)
    let status = SubscriptionStatus.all(in: SubscriptionFacts(read), at: shop.now.milliseconds).first
    #expect(status?.state == .refunded && status?.originalTransactionID == gold.transactionID)
    let receipt = try shop.ask(try #require(read.unifiedReceipt?.latestReceipt), password: "0f0f")
    #expect(receipt.status == .ok)
  }
}

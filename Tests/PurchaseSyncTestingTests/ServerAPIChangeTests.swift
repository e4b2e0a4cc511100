import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// What a backend reads and changes over the App Store Server API next to histories, on the store's model.
struct ServerAPIChangeTests {
  // MARK: Statuses

  @Test func `each state of a subscription has its number, and the filter finds it`() throws {
    var shop = Shop()
    let gold = try shop.buy("gold", as: "a").transactionID
    func statuses(_ shop: Shop, _ filter: [String] = []) throws -> [Int] {
      try shop.store.subscriptionStatuses(of: gold, in: filter).map(\.status.rawValue)
    }
    #expect(try statuses(shop) == [1])
    #expect(try statuses(shop, ["1", "4"]) == [1])
    #expect(try statuses(shop, ["2"]).isEmpty)
    shop.store.setBilling(works: false, storeAccount: "a", now: shop.now)
    shop.wait(days: 31)
    shop.store.advance(to: shop.now)
    #expect(try statuses(shop) == [4])
    shop.wait(days: 17)
    shop.store.advance(to: shop.now)
    #expect(try statuses(shop) == [3])
    shop.wait(days: 60)
    shop.store.advance(to: shop.now)
    #expect(try statuses(shop) == [2])
    #expect(try statuses(shop, ["2", "3"]) == [2])
    for wrong in ["0", "6", "", "x"] {
      #expect(apiError { _ = try statuses(shop, [wrong]) } == .invalidStatus)
    }
  }

  @Test func `groups, the newest transaction and a family share are told`() throws {
    var shop = Shop()
    shop.store.setFamily(of: "a", to: ["b"], now: shop.now)
    let gold = try shop.buy("gold")
    let monthly = try shop.buy("monthly")
    let renewed = try shop.store.renew(transactionID: gold.transactionID, now: shop.now)
    let items = try shop.store.subscriptionStatuses(of: monthly.transactionID)
    #expect(items.map(\.groupID) == ["vip", "monthly"])
    #expect(items.map(\.record.transactionID) == [renewed.transactionID, monthly.transactionID])
    #expect(items.map(\.renewal.originalTransactionID) == [gold.transactionID, monthly.transactionID])
    let share = try #require(shop.store.transactions(storeAccount: "b").first)
    let shared = try shop.store.subscriptionStatuses(of: share.transactionID)
    #expect(shared.map(\.status) == [.active])
    try shop.store.refund(transactionID: renewed.transactionID, now: shop.now)
    #expect(try shop.store.subscriptionStatuses(of: gold.transactionID, in: ["5"]).count == 1)
    #expect(try shop.store.subscriptionStatuses(of: share.transactionID).map(\.status) == [.revoked])
  }

  // MARK: Finish and token

  @Test
  func `a transaction that the backend finished is not listed, and the app's own finish changes nothing`()
    throws
  {
    var shop = Shop()
    let id = try shop.buy("coins").transactionID
    try shop.store.finish(atAPI: id)
    #expect(shop.store.unfinished(storeAccount: "a").isEmpty)
    #expect(shop.store.finish(transactionID: id, as: "a") == .finished)
    try shop.store.finish(atAPI: id)
    #expect(shop.store.charges.map(\.isFinished) == [true])
    #expect(apiError { try shop.store.finish(atAPI: "404") } == .transactionNotFound)
    #expect(apiError { try shop.store.finish(atAPI: "x") } == .invalidTransactionID)
  }

  @Test func `a token is set and replaced, and stays for renewals and other plans`() throws {
    var shop = Shop()
    let (first, second) = (UUID(), UUID())
    let code = try shop.store.redeem(offerCode: "free", product: "silver", storeAccount: "a", now: shop.now)
    #expect(code.accountToken == nil)
    let id = code.transactionID
    try shop.store.setAccountToken(first, ofOriginal: id)
    let renewed = try shop.store.renew(transactionID: id, now: shop.now)
    #expect(renewed.accountToken == first)
    try shop.store.setAccountToken(second, ofOriginal: id)
    // Past transactions keep theirs.
    #expect(shop.store.transactions.map(\.accountToken) == [first, second])
    try shop.store.changePlan(transactionID: id, to: "gold", now: shop.now)
    #expect(shop.store.transactions.map(\.accountToken) == [first, second, second])
    let coins = try shop.buy("coins", token: first).transactionID
    try shop.store.setAccountToken(second, ofOriginal: coins)
    #expect(shop.store.transaction(coins)?.accountToken == second)
  }

  @Test func `a token is refused for a share, a renewal and an unknown purchase`() throws {
    var shop = Shop()
    shop.store.setFamily(of: "a", to: ["b"], now: shop.now)
    let gold = try shop.buy("gold")
    let renewed = try shop.store.renew(transactionID: gold.transactionID, now: shop.now)
    let share = try #require(shop.store.transactions(storeAccount: "b").first)
    func set(_ id: String) -> ServerAPIError? {
      apiError { try shop.store.setAccountToken(UUID(), ofOriginal: id) }
    }
    #expect(set(share.transactionID) == .familyNotSupported)
    #expect(set(renewed.transactionID) == .idIsNotOriginal)
    #expect(set("404") == .originalTransactionNotFound)
    #expect(set("x") == .invalidOriginalTransactionID)
  }

  // MARK: Renewal dates

  @Test func `an extension moves the end of the period, the share's too, and is told`() throws {
    var shop = Shop()
    shop.store.notifications.versions = [.two]
    shop.store.setFamily(of: "a", to: ["b"], now: shop.now)
    let gold = try shop.buy("gold")
    let end = try #require(gold.expiresAt).adding(milliseconds: 10 * Sample.day)
    let extended = try shop.store.extendRenewal(ofOriginal: gold.transactionID, by: 10, now: shop.now)
    #expect(extended.expiresAt == end)
    #expect(shop.store.transactions(storeAccount: "b").first?.expiresAt == end)
    #expect(shop.store.notifications.waiting.last?.kind == "RENEWAL_EXTENDED")
    shop.wait(days: 35)
    shop.store.advance(to: shop.now)
    #expect(shop.store.charges.count == 1)
    shop.wait(days: 6)
    shop.store.advance(to: shop.now)
    #expect(shop.store.charges.last?.purchasedAt == end)
  }

  @Test func `only a paid and active subscription is extended, and twice a year`() throws {
    var shop = Shop()
    func extend(_ id: String) -> ServerAPIError? {
      apiError { _ = try shop.store.extendRenewal(ofOriginal: id, by: 1, now: shop.now) }
    }
    let trial = try shop.buy("silver", as: "t").transactionID
    #expect(extend(trial) == .notExtendable)
    let code = try shop.store.redeem(offerCode: "x", product: "gold", storeAccount: "c", now: shop.now)
    #expect(extend(code.transactionID) == .notExtendable)
    #expect(extend(try shop.buy("coins").transactionID) == .originalTransactionNotFound)
    #expect(extend("404") == .originalTransactionNotFound)
    #expect(extend("x") == .invalidOriginalTransactionID)
    shop.store.setFamily(of: "a", to: ["b"], now: shop.now)
    let gold = try shop.buy("gold").transactionID
    let share = try #require(shop.store.transactions(storeAccount: "b").first)
    #expect(extend(share.transactionID) == .familyNotExtendable)
    #expect(extend(gold) == nil)
    #expect(extend(gold) == nil)
    #expect(extend(gold) == .extendedTooOften)
    shop.wait(days: 366)
    #expect(extend(gold) == nil)
    shop.store.setBilling(works: false, storeAccount: "a", now: shop.now)
    shop.wait(days: 40)
    #expect(extend(gold) == .notExtendable)
  }

  @Test(
    arguments: [
      ("{}", .invalidExtendByDays), (#"{"extendByDays":0}"#, .invalidExtendByDays),
      (#"{"extendByDays":91}"#, .invalidExtendByDays), (#"{"extendByDays":"7"}"#, .invalidExtendByDays),
      (#"{"extendByDays":7}"#, .invalidExtendReason),
      (#"{"extendByDays":7,"extendReasonCode":4}"#, .invalidExtendReason),
      (#"{"extendByDays":90,"extendReasonCode":0}"#, .invalidRequestIdentifier),
      (#"{"extendByDays":1,"extendReasonCode":3,"requestIdentifier":""}"#, .invalidRequestIdentifier),
      (#"{"extendByDays":1,"extendReasonCode":3,"requestIdentifier":"r"}"#, nil),
    ] as [(String, ServerAPIError?)])
  func `the body of an extension is checked`(body: String, expected: ServerAPIError?) throws {
    let json = try JSONValue(json: body)
    #expect(apiError { _ = try RenewalExtension(body: json) } == expected)
  }

  @Test func `all subscribers of a product are extended, and failures are counted and told`() throws {
    var shop = Shop()
    shop.store.notifications.versions = [.two]
    let gold = try ["a", "b", "c"].map { try shop.buy("gold", as: $0).transactionID }
    for _ in 0..<2 { _ = try shop.store.extendRenewal(ofOriginal: gold[2], by: 1, now: shop.now) }
    func body(_ more: String = "") throws -> JSONValue {
      try JSONValue(
        json: #"{"extendByDays":5,"extendReasonCode":1,"requestIdentifier":"r1","productId":"gold"\#(more)}"#)
    }
    func extend(_ json: JSONValue) throws {
      try shop.store.extendRenewals(try RenewalExtension(body: json), body: json, now: shop.now)
    }
    try extend(try body(#","storefrontCountryCodes":["USA","DEU"]"#))
    let result = try shop.store.massExtension(product: "gold", requestIdentifier: "r1")
    #expect(result.succeeded == 2 && result.failed == 1)
    let told = shop.store.notifications.log.entries.suffix(4).map { "\($0.kind)/\($0.subtype ?? "")" }
    #expect(
      told == [
        "RENEWAL_EXTENDED/", "RENEWAL_EXTENDED/", "RENEWAL_EXTENSION/FAILURE", "RENEWAL_EXTENSION/SUMMARY",
      ]
    )
    for entry in shop.store.notifications.log.entries.suffix(4) {
      #expect(try ServerNotificationV2(jws: try #require(entry.signedPayload)).unknownFields.isEmpty)
    }
    #expect(apiError { try extend(try body(#","storefrontCountryCodes":[]"#)) } == .emptyStorefronts)
    #expect(apiError { try extend(try body(#","storefrontCountryCodes":["us"]"#)) } == .invalidStorefront)
    #expect(
      apiError { try extend(try JSONValue(json: try body().text.replacing("gold", with: "pro"))) }
        == .invalidProductID)
    #expect(
      apiError { _ = try shop.store.massExtension(product: "gold", requestIdentifier: "r2") }
        == .extensionNotFound)
  }

  // MARK: Consumption

  private static let version1 =
    #"{"customerConsented":true,"sampleContentProvided":false,"consumptionStatus":1,"platform":1,"#
    + #""deliveryStatus":0,"accountTenure":7,"playTime":7,"lifetimeDollarsRefunded":7,"#
    + #""lifetimeDollarsPurchased":7,"userStatus":4,"appAccountToken":""}"#
  private static let version2 =
    #"{"customerConsented":true,"sampleContentProvided":true,"deliveryStatus":"DELIVERED"}"#

  @Test(
    arguments: [
      (1, version1, "", "", nil), (2, version2, "", "", nil),
      (2, version2, "true,\"sample", "false,\"sample", .invalidCustomerConsented),
      (1, version1, "true,\"sample", "1,\"sample", .invalidCustomerConsented),
      (1, version1, "Provided\":false", "Provided\":0", .invalidSampleContent),
      (1, version1, "consumptionStatus\":1", "consumptionStatus\":4", .invalidConsumptionStatus),
      (1, version1, "platform\":1", "platform\":3", .invalidPlatform),
      (1, version1, "deliveryStatus\":0", "deliveryStatus\":6", .invalidDeliveryStatus),
      (1, version1, "accountTenure\":7", "accountTenure\":8", .invalidAccountTenure),
      (1, version1, "playTime\":7", "playTime\":-1", .invalidPlayTime),
      (1, version1, "Refunded\":7", "Refunded\":null", .invalidDollarsRefunded),
      (1, version1, "Purchased\":7", "Purchased\":\"7\"", .invalidDollarsPurchased),
      (1, version1, "userStatus\":4", "userStatus\":5", .invalidUserStatus),
      (1, version1, "Token\":\"\"", "Token\":\"x\"", .invalidAppAccountToken),
      (2, version2, "Provided\":true", "Provided\":null", .invalidSampleContent),
      (2, version2, "\"DELIVERED\"", "0", .invalidDeliveryStatus),
      (2, version2, "\"DELIVERED\"", "\"DELIVERED\",\"consumptionPercentage\":100001", .badRequest),
      (2, version2, "\"DELIVERED\"", "\"DELIVERED\",\"refundPreference\":\"MAYBE\"", .badRequest),
      (2, version2, "\"DELIVERED\"", "\"DELIVERED\",\"refundPreference\":\"DECLINE\"", nil),
    ] as [(Int, String, String, String, ServerAPIError?)])
  func `the body of a report about consumption is checked`(
    version: Int, body: String, old: String, new: String, expected: ServerAPIError?
  ) throws {
    let json = try JSONValue(json: old.isEmpty ? body : body.replacing(old, with: new))
    #expect(
      apiError { _ = try ConsumptionReport(version: version, body: json, now: Sample.now) } == expected)
  }

  @Test func `a report is kept for the purchases that the version takes`() throws {
    var shop = Shop()
    let report1 = try ConsumptionReport(version: 1, body: JSONValue(json: Self.version1), now: shop.now)
    let report2 = try ConsumptionReport(version: 2, body: JSONValue(json: Self.version2), now: shop.now)
    let (coins, pro) = (try shop.buy("coins").transactionID, try shop.buy("pro").transactionID)
    try shop.store.takeConsumption(report1, of: coins)
    #expect(apiError { try shop.store.takeConsumption(report1, of: pro) } == .typeNotSupported)
    try shop.store.takeConsumption(report2, of: pro)
    #expect(shop.store.consumptionReports.values == [coins: report1, pro: report2])
    #expect(apiError { try shop.store.takeConsumption(report2, of: "404") } == .transactionNotFound)
  }
}

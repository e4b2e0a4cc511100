import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseQueue
import Testing

@testable import PurchaseSyncTesting

/// *Get Notification History* and test notifications, on the store's model.
struct ServerAPINotificationTests {
  private func query(
    _ shop: Shop, _ more: String = "", token: String? = nil, environment: StoreEnvironment = .production
  ) throws -> NotificationQuery {
    let start = Sample.now.milliseconds
    let json = #"{"startDate":\#(start),"endDate":\#(start + 900 * Sample.day)\#(more)}"#
    return try NotificationQuery(
      body: try JSONValue(json: json), paginationToken: token, environment: environment, now: shop.now)
  }

  /// A shop whose backend gets version 2.
  private func shop() -> Shop {
    var shop = Shop()
    shop.store.notifications.versions = [.one, .two]
    return shop
  }

  private func post(_ shop: inout Shop, status: Int?) {
    for notification in shop.store.takeNotifications(now: shop.now) {
      shop.store.settleNotification(id: notification.id, status: status, now: shop.now)
    }
  }

  @Test func `a history comes in pages of twenty, version 2 only, each with all attempts`() throws {
    var shop = shop()
    for _ in 0..<45 { try shop.buy("coins") }
    post(&shop, status: 500)
    shop.wait(days: 1)
    post(&shop, status: 200)
    var pages: [[LoggedNotification]] = []
    var token: String?
    repeat {
      let asked = try query(shop, token: token)
      let (entries, hasMore) = try shop.store.notificationHistory(asked)
      pages.append(entries)
      token = hasMore ? entries.last.map(asked.token) : nil
    } while token != nil
    #expect(pages.map(\.count) == [20, 20, 5])
    let entries = pages.flatMap { $0 }
    #expect(entries.map(\.transactionID) == shop.store.charges.map(\.transactionID))
    #expect(entries.allSatisfy { $0.attempts.map(\.status) == [500, 200] && $0.isDelivered })
    let read = try ServerNotificationV2(jws: try #require(entries.first?.signedPayload))
    #expect(read.kind == .oneTimeCharge)
    #expect(
      entries.first?.sendAttempts.array?.compactMap { $0["sendAttemptResult"]?.string }
        == ["UNSUCCESSFUL_HTTP_RESPONSE_CODE", "SUCCESS"])
  }

  @Test func `a token of a list with other filters is refused, and one with a later end is not`() throws {
    var shop = shop()
    for _ in 0..<21 { try shop.buy("coins") }
    let first = try query(shop)
    let token = try #require(try shop.store.notificationHistory(first).entries.last.map(first.token))
    for more in [
      #","onlyFailures":true"#, #","notificationType":"REFUND""#,
      #","startDate":\#(Sample.now.milliseconds + 1)"#,
    ] {
      #expect(apiError { _ = try query(shop, more, token: token) } == .invalidPaginationToken)
    }
    let later = try query(shop, #","endDate":\#(Sample.now.milliseconds + 5 * Sample.day)"#, token: token)
    #expect(try shop.store.notificationHistory(later).entries.count == 1)
  }

  @Test func `the results of requests for all subscribers are bounded`() throws {
    var shop = shop()
    let most = StoreModel.keptMassExtensions
    for number in 0...most {
      let body: JSONValue = [
        "extendByDays": 1, "extendReasonCode": 1, "requestIdentifier": .string("r\(number)"),
        "productId": "gold",
      ]
      try shop.store.extendRenewals(try RenewalExtension(body: body), body: body, now: shop.now)
    }
    #expect(shop.store.massExtensions.map(\.requestIdentifier).first == "r1")
    #expect(shop.store.massExtensions.count == most)
  }

  @Test func `copies of a notification and attempts without an answer are attempts of one`() throws {
    var shop = shop()
    shop.store.notifications.copies = 2
    try shop.buy("coins")
    post(&shop, status: nil)
    let entries = shop.store.notifications.log.entries
    #expect(entries.map(\.attempts.count) == [2])
    #expect(entries.first?.sendAttempts.array?.last?["sendAttemptResult"]?.string == "NO_RESPONSE")
  }

  @Test func `filters narrow the history by type, customer, failure and time`() throws {
    var shop = shop()
    let gold = try shop.buy("gold", as: "a").transactionID
    try shop.buy("coins", as: "b")
    post(&shop, status: 200)
    shop.wait(days: 2)
    try shop.store.setRenewal(on: false, transactionID: gold, now: shop.now)
    post(&shop, status: 503)
    func kinds(_ more: String) throws -> [String] {
      try shop.store.notificationHistory(try query(shop, more)).entries.map(\.kind)
    }
    #expect(try kinds("") == ["SUBSCRIBED", "ONE_TIME_CHARGE", "DID_CHANGE_RENEWAL_STATUS"])
    #expect(try kinds(#","notificationType":"SUBSCRIBED""#) == ["SUBSCRIBED"])
    #expect(
      try kinds(#","notificationType":"SUBSCRIBED","notificationSubtype":"RESUBSCRIBE""#) == [])
    #expect(try kinds(#","transactionId":"\#(gold)""#) == ["SUBSCRIBED", "DID_CHANGE_RENEWAL_STATUS"])
    #expect(try kinds(#","onlyFailures":true"#) == ["DID_CHANGE_RENEWAL_STATUS"])
    let day = Sample.now.adding(milliseconds: Sample.day).milliseconds
    #expect(try kinds(#","endDate":\#(day)"#) == ["SUBSCRIBED", "ONE_TIME_CHARGE"])
    #expect(try kinds(#","startDate":\#(day)"#) == ["DID_CHANGE_RENEWAL_STATUS"])
    #expect(apiError { _ = try kinds(#","transactionId":"404""#) } == .transactionNotFound)
  }

  @Test(
    arguments: [
      (#","startDate":"x""#, nil, .invalidStartDate), (#","startDate":null"#, nil, .invalidStartDate),
      (#","endDate":-1"#, nil, .invalidEndDate), (#","endDate":5,"startDate":5"#, nil, .startAfterEnd),
      (#","startDate":1"#, nil, .startTooEarly),
      (#","notificationType":"SOLD""#, nil, .invalidNotificationType),
      (#","notificationSubtype":"UPGRADE""#, nil, .invalidNotificationType),
      (#","notificationType":"TEST","notificationSubtype":"NEW""#, nil, .invalidNotificationType),
      (#","notificationType":"TEST","transactionId":"1""#, nil, .multipleFilters),
      ("", "x", .invalidPaginationToken), ("", "page-0", .invalidPaginationToken),
      ("", "page-x", .invalidPaginationToken),
    ] as [(String, String?, ServerAPIError)])
  func `a wrong request for the history has the store's number`(
    more: String, token: String?, expected: ServerAPIError
  ) {
    #expect(apiError { _ = try query(shop(), more, token: token) } == expected)
  }

  @Test func `the sandbox has the history of thirty days`() throws {
    var shop = shop()
    shop.wait(days: 31)
    #expect(apiError { _ = try query(shop, environment: .sandbox) } == .startTooEarly)
    _ = try query(shop)
    shop.wait(days: 150)
    #expect(apiError { _ = try query(shop) } == .startTooEarly)
  }

  @Test func `a test notification has a status after its first attempt`() throws {
    var shop = shop()
    let token = try shop.store.requestTestNotification(now: shop.now)
    #expect(apiError { _ = try shop.store.testNotification(token: token) } == .testNotificationNotFound)
    post(&shop, status: 204)
    let entry = try shop.store.testNotification(token: token)
    #expect(entry.attempts.map(\.status) == [204])
    let read = try ServerNotificationV2(jws: try #require(entry.signedPayload))
    #expect(read.kind == .test && read.details?.bundleID == Sample.bundleID)
    for wrong in ["", "x", "a_1", String(token.dropLast())] {
      let expected: ServerAPIError =
        wrong.count > 30 ? .testNotificationNotFound : .invalidTestToken
      #expect(apiError { _ = try shop.store.testNotification(token: wrong) } == expected)
    }
    shop.store.notifications.versions = []
    #expect(apiError { _ = try shop.store.requestTestNotification(now: shop.now) } == .noNotificationURL)
  }

  @Test func `the log keeps the newest five thousand`() {
    var log = NotificationLog()
    let notification = OutgoingNotification(
      id: 0, notificationID: "n", version: .two, kind: "TEST", subtype: nil, transactionID: "", body: "",
      createdAt: Sample.now, dueAt: Sample.now)
    for _ in 0..<5_003 { _ = log.add(notification) }
    log.note(1, status: 200, now: Sample.now)
    #expect(log.entries.count == 5_000 && log.entries.first?.number == 4)
  }
}

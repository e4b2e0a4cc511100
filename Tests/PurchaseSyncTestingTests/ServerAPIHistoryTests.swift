import AppStoreReceipts
import Foundation
import PurchaseQueue
import Testing

@testable import PurchaseSyncTesting

/// *Get Transaction History*, *Get Refund History* and *Look Up Order ID* on the store's model.
struct ServerAPIHistoryTests {
  /// All pages of a history, by the revisions that the store gives.
  private func pages(
    _ store: StoreModel, of id: String, version: Int = 2, _ items: KeyValuePairs<String, String> = [:]
  ) throws -> [[String]] {
    var query = try HistoryQuery(ServerAPIQuery(items))
    var pages: [[String]] = []
    while true {
      let page = try store.history(of: id, version: version, query)
      pages.append(page.records.map(\.transactionID))
      guard page.hasMore else { return pages }
      query.revision = page.revision
    }
  }

  private func ids(
    _ shop: Shop, of id: String, version: Int = 2, _ items: KeyValuePairs<String, String> = [:]
  ) throws -> [String] {
    try pages(shop.store, of: id, version: version, items).flatMap { $0 }
  }

  @Test(arguments: [0, 1, 19, 20, 21, 40, 41])
  func `a history comes in pages of twenty, each transaction once`(count: Int) throws {
    var shop = Shop()
    let first = try shop.buy("coins", as: "other")
    var bought: [String] = []
    for _ in 0..<count { bought.append(try shop.buy("coins").transactionID) }
    guard let any = bought.last else {
      #expect(try pages(shop.store, of: first.transactionID) == [[first.transactionID]])
      return
    }
    let ascending = try pages(shop.store, of: any)
    #expect(ascending.flatMap { $0 } == bought)
    #expect(ascending.count == (count + 19) / 20 && ascending.dropLast().allSatisfy { $0.count == 20 })
    #expect(try pages(shop.store, of: any, ["sort": "DESCENDING"]).flatMap { $0 } == Array(bought.reversed()))
  }

  @Test func `the revision of the last page has what is new later, and a refund moves a purchase to the end`()
    throws
  {
    var shop = Shop()
    let first = try shop.buy("coins")
    shop.wait(days: 1)
    let second = try shop.buy("coins")
    var query = try HistoryQuery()
    let page = try shop.store.history(of: first.transactionID, version: 2, query)
    query.revision = page.revision
    let empty = try shop.store.history(of: first.transactionID, version: 2, query)
    #expect(empty.records.isEmpty && empty.revision == page.revision && !empty.hasMore)
    shop.wait(days: 1)
    try shop.store.refund(transactionID: first.transactionID, now: shop.now)
    let changed = try shop.store.history(of: second.transactionID, version: 2, query)
    #expect(changed.records.map(\.transactionID) == [first.transactionID])
    #expect(changed.records.first?.revokedAt != nil)
  }

  @Test func `filters narrow a history, all of them and any of their values`() throws {
    var shop = Shop()
    let coins = try shop.buy("coins").transactionID
    shop.wait(days: 1)
    let pass = try shop.buy("pass").transactionID
    let pro = try shop.buy("pro").transactionID
    shop.wait(days: 1)
    let gold = try shop.buy("gold").transactionID
    try shop.store.refund(transactionID: pass, now: shop.now)
    let day = Sample.now.adding(milliseconds: Sample.day).milliseconds
    #expect(Set(try ids(shop, of: coins)) == [coins, pro, gold, pass])
    #expect(try ids(shop, of: coins, ["productId": "coins", "productId": "gold"]) == [coins, gold])
    #expect(
      try ids(shop, of: coins, ["productType": "CONSUMABLE", "productType": "NON_CONSUMABLE"]) == [
        coins, pro,
      ])
    #expect(try ids(shop, of: coins, ["productType": "NON_RENEWABLE"]) == [pass])
    #expect(try ids(shop, of: coins, ["productType": "AUTO_RENEWABLE"]) == [gold])
    #expect(try ids(shop, of: coins, ["subscriptionGroupIdentifier": "vip"]) == [gold])
    #expect(try ids(shop, of: coins, ["revoked": "True"]) == [pass])
    #expect(try ids(shop, of: coins, ["revoked": "false", "productType": "NON_RENEWABLE"]).isEmpty)
    #expect(try ids(shop, of: coins, ["excludeRevoked": "true"]) == [coins, pro, gold])
    // The start counts, the end does not.
    #expect(try ids(shop, of: coins, ["startDate": "\(day)", "endDate": "\(day + 1)"]) == [pro, pass])
    #expect(try ids(shop, of: coins, ["endDate": "\(day)"]) == [coins])
    #expect(try ids(shop, of: coins, ["inAppOwnershipType": "FAMILY_SHARED"]).isEmpty)
    #expect(try ids(shop, of: coins, ["inAppOwnershipType": "PURCHASED"]).count == 4)
  }

  @Test func `a family share is in the member's history only`() throws {
    var shop = Shop()
    shop.store.setFamily(of: "a", to: ["b"], now: shop.now)
    let album = try shop.buy("album")
    let share = try #require(shop.store.transactions(storeAccount: "b").first)
    #expect(try ids(shop, of: album.transactionID) == [album.transactionID])
    #expect(
      try ids(shop, of: share.transactionID, ["inAppOwnershipType": "FAMILY_SHARED"])
        == [share.transactionID])
  }

  @Test func `version 1 leaves out finished consumables that were not refunded`() throws {
    var shop = Shop()
    let open = try shop.buy("coins")
    let finished = try shop.buy("coins")
    let refunded = try shop.buy("coins")
    for record in [finished, refunded] { try shop.store.finish(atAPI: record.transactionID) }
    try shop.store.refund(transactionID: refunded.transactionID, now: shop.now)
    #expect(
      Set(try ids(shop, of: open.transactionID, version: 1)) == [open.transactionID, refunded.transactionID])
    #expect(try ids(shop, of: open.transactionID).count == 3)
  }

  @Test func `an upgrade moves the replaced period to the end of the history`() throws {
    var shop = Shop()
    let silver = try shop.buy("silver")
    shop.wait(days: 1)
    let coins = try shop.buy("coins")
    shop.wait(days: 1)
    try shop.store.changePlan(transactionID: silver.transactionID, to: "gold", now: shop.now)
    let listed = try ids(shop, of: coins.transactionID)
    #expect(listed.first == coins.transactionID && listed.count == 3)
    #expect(listed[1] == silver.transactionID)
  }

  @Test func `a revision of a list with another order or other filters is refused`() throws {
    var shop = Shop()
    var id = ""
    for _ in 0..<25 { id = try shop.buy("coins").transactionID }
    let lists: [KeyValuePairs<String, String>] = [
      [:], ["sort": "DESCENDING"], ["productId": "coins"], ["productType": "CONSUMABLE"],
      ["productId": "coins", "productId": "pro"], ["startDate": "5"], ["revoked": "false"],
    ]
    for (number, items) in lists.enumerated() {
      let page = try shop.store.history(of: id, version: 2, try HistoryQuery(ServerAPIQuery(items)))
      #expect(page.hasMore)
      for (other, items) in lists.enumerated() {
        var query = try HistoryQuery(ServerAPIQuery(items))
        query.revision = page.revision
        if other == number {
          #expect(try shop.store.history(of: id, version: 2, query).records.count == 5)
        } else {
          #expect(apiError { _ = try shop.store.history(of: id, version: 2, query) } == .invalidRevision)
        }
      }
    }
  }

  @Test(
    arguments: [
      (["revision": "x"], .invalidRevision), (["revision": "1_x"], .invalidRevision),
      (["revision": "1_2_3"], .invalidRevision), (["startDate": "soon"], .invalidStartDate),
      (["startDate": "-1"], .invalidStartDate), (["endDate": ""], .invalidEndDate),
      (["startDate": "5", "endDate": "5"], .startAfterEnd), (["productId": ""], .invalidProductID),
      (["productType": "consumable"], .invalidProductType), (["sort": "ascending"], .invalidSort),
      (["subscriptionGroupIdentifier": ""], .invalidGroup), (["revoked": "1"], .invalidRevoked),
      (["excludeRevoked": "no"], .invalidExcludeRevoked),
      (["inAppOwnershipType": "STOLEN"], .invalidOwnership),
    ] as [(KeyValuePairs<String, String>, ServerAPIError)])
  func `a wrong filter has the store's number`(
    items: KeyValuePairs<String, String>, expected: ServerAPIError
  ) throws {
    var shop = Shop()
    let id = try shop.buy("coins").transactionID
    #expect(apiError { _ = try ids(shop, of: id, items) } == expected)
  }

  @Test func `ids have the store's errors`() throws {
    var shop = Shop()
    let record = try shop.buy("coins")
    let appTransaction = shop.store.appTransactionID(of: "a")
    #expect(apiError { _ = try ids(shop, of: "abc") } == .invalidTransactionID)
    #expect(apiError { _ = try ids(shop, of: "404") } == .transactionNotFound)
    #expect(apiError { _ = try shop.store.transaction(atAPI: "") } == .invalidTransactionID)
    #expect(apiError { _ = try shop.store.transaction(atAPI: "404") } == .transactionNotFound)
    #expect(
      apiError { _ = try shop.store.transaction(atAPI: appTransaction) } == .appTransactionIDNotSupported)
    #expect(try ids(shop, of: appTransaction) == [record.transactionID])
    #expect(shop.store.appTransactionID(of: "b") != appTransaction && appTransaction.count == 18)
  }

  @Test func `refunds come in the order of their dates`() throws {
    var shop = Shop()
    let bought = try (0..<25).map { _ in try shop.buy("coins").transactionID }
    for id in bought.reversed() {
      shop.wait(days: 1)
      try shop.store.refund(transactionID: id, now: shop.now)
    }
    let first = try shop.store.refundHistory(of: bought[3], after: nil)
    #expect(first.records.map(\.transactionID) == Array(bought.reversed().prefix(20)) && first.hasMore)
    let second = try shop.store.refundHistory(of: bought[3], after: first.revision)
    #expect(second.records.map(\.transactionID) == Array(bought.reversed().suffix(5)) && !second.hasMore)
    #expect(try shop.store.refundHistory(of: bought[3], after: second.revision).records.isEmpty)
    let other = try shop.buy("coins", as: "b")
    let none = try shop.store.refundHistory(of: other.transactionID, after: nil)
    #expect(none.records.isEmpty && none.revision == "0")
  }

  @Test func `an order is found by its number in production only`() throws {
    var (shop, sandbox) = (Shop(), Shop(.sandbox))
    let record = try shop.buy("coins")
    let number = StoreModel.orderID(of: record)
    #expect(shop.store.order(number).map(\.transactionID) == [record.transactionID])
    for wrong in ["", "M", "M0", number.lowercased(), number + "0", "M0" + number.dropFirst()] {
      #expect(shop.store.order(wrong).isEmpty)
    }
    let tested = StoreModel.orderID(of: try sandbox.buy("coins"))
    #expect(sandbox.store.order(tested).isEmpty)
  }

  @Test func `a query has each of its repeated names`() {
    let query = ServerAPIQuery(
      target: "/inApps/v2/history/1?productId=a%2Cb&productId=c+d&revoked&productId=")
    #expect(query.values("productId") == ["a,b", "c d", ""])
    #expect(query.values("revoked") == [""] && query.values("other").isEmpty)
    #expect(ServerAPIQuery(target: "/inApps").values("a").isEmpty)
  }
}

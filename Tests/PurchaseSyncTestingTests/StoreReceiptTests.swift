import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// The behaviour of the app receipt (StoreFacts a.4; R4.4, R5.4).
struct StoreReceiptTests {
  private let later = Sample.now.adding(milliseconds: 60_000)

  @Test func `in the sandbox there is no receipt before the first purchase or refresh, in production always`()
    throws
  {
    var sandbox = StoreModel(products: Sample.products, forge: Sample.forge, environment: .sandbox)
    #expect(sandbox.receipt(storeAccount: "a", now: Sample.now) == nil)
    var refreshed = sandbox
    #expect(try refreshed.refreshReceipt(storeAccount: "a", now: Sample.now) != nil)
    let paid = try sandbox.buy()
    let written = sandbox.receipt(storeAccount: "a", now: Sample.now)
    let bytes = try #require(written)
    #expect(try AppReceipt(decoding: bytes).environment == .sandbox)
    #expect(try sandbox.idsInReceipt() == [paid.transactionID])
    var production = Sample.store()
    #expect(try production.idsInReceipt() == [])
    #expect(try production.idsInReceipt(of: nil) == nil)
    let downloaded = production.receipt(storeAccount: "a", now: Sample.now)
    let empty = try #require(downloaded)
    #expect(try AppReceipt(decoding: empty).environment == .production)
  }

  @Test func `finished consumables leave with the next purchase or refresh, other products never`() throws {
    for isRefresh in [true, false] {
      var store = Sample.store()
      let ids = try ["coins", "pro", "monthly"].map { try store.buy($0).transactionID }
      for id in ids { try store.finish(transactionID: id) }
      let before = store.receipt(storeAccount: "a", now: later)
      #expect(store.receipt(storeAccount: "a", now: later) == before)
      #expect(try store.idsInReceipt() == ids)
      if isRefresh {
        _ = try store.refreshReceipt(storeAccount: "a", now: later)
        #expect(try store.idsInReceipt() == Array(ids.dropFirst()))
      } else {
        let next = try store.buy()
        #expect(try store.idsInReceipt() == ids.dropFirst() + [next.transactionID])
      }
    }
  }

  @Test func `the receipt follows the store account`() throws {
    var store = Sample.store()
    let first = try store.buy(as: "a")
    let second = try store.buy(as: "b")
    #expect(try store.idsInReceipt(of: "a") == [first.transactionID])
    #expect(try store.idsInReceipt(of: "b") == [second.transactionID])
  }

  @Test func `one receipt holds all that is unfinished`() throws {
    var store = Sample.store()
    let ids = try (0..<5).map { _ in try store.buy().transactionID }
    #expect(try store.idsInReceipt() == ids)
  }

  @Test(arguments: [1, 3])
  func `a fresh receipt lacks the newest transaction for so many readings`(readings: Int) throws {
    var store = Sample.store()
    let old = try store.buy()
    store.faults.lackedPurchases = 1
    store.faults.lackingReadings = readings
    let new = try store.buy()
    for _ in 0..<readings { #expect(try store.idsInReceipt() == [old.transactionID]) }
    #expect(try store.idsInReceipt() == [old.transactionID, new.transactionID])
    let third = try store.buy()
    #expect(try store.idsInReceipt()?.last == third.transactionID)
  }

  @Test func `a refresh with a stale receipt counts as a reading too`() throws {
    var store = Sample.store()
    store.faults.lackedPurchases = 1
    store.faults.lackingReadings = 2
    try store.buy()
    let refreshed = try #require(try store.refreshReceipt(storeAccount: "a", now: later))
    #expect(try AppReceipt(decoding: refreshed).inApp.isEmpty)
    #expect(try store.idsInReceipt()?.count == 0)
    #expect(try store.idsInReceipt()?.count == 1)
  }

  @Test func `a receipt can lack a transaction until a refresh`() throws {
    var store = Sample.store()
    store.faults.lackedPurchases = 1
    store.faults.lackingReadings = nil
    let paid = try store.buy()
    for _ in 0..<10 { #expect(try store.idsInReceipt() == []) }
    try store.buy(as: "b")
    _ = try store.refreshReceipt(storeAccount: "a", now: later)
    #expect(try store.idsInReceipt() == [paid.transactionID])
  }

  @Test func `a refund and a renewal are in the receipt from its next writing on`() throws {
    var store = Sample.store()
    let paid = try store.buy("monthly")
    try store.refund(transactionID: paid.transactionID, now: later)
    let renewal = try store.renew(transactionID: paid.transactionID, now: later)
    #expect(try store.idsInReceipt() == [paid.transactionID])
    let unchanged = store.receipt(storeAccount: "a", now: later)
    let before = try AppReceipt(decoding: #require(unchanged))
    #expect(before.inApp.map(\.cancellationDate) == [nil])
    let bytes = try #require(try store.refreshReceipt(storeAccount: "a", now: later))
    let after = try AppReceipt(decoding: bytes)
    #expect(after.inApp.map(\.transactionID) == [paid.transactionID, renewal.transactionID])
    #expect(after.inApp[0].cancellationDate == later.milliseconds / 1_000 * 1_000)
    #expect(after.receiptCreationDate == later.milliseconds / 1_000 * 1_000)
  }

  @Test func `refreshes prompt, also those that fail or are throttled, and readings never do`() throws {
    var store = Sample.store()
    let paid = try store.buy()
    for _ in 0..<5 { _ = try store.idsInReceipt() }
    #expect(store.prompts == 0)
    #expect(store.receiptReadings == 5)
    store.faults.failingRefreshes = 1
    #expect(throws: StoreModelError.refreshFailed) {
      try store.refreshReceipt(storeAccount: "a", now: Sample.now)
    }
    #expect(throws: StoreModelError.noStoreAccount) {
      try store.refreshReceipt(storeAccount: nil, now: Sample.now)
    }
    #expect(store.prompts == 2)
    store.faults.refreshInterval = .milliseconds(1_000)
    _ = try store.refreshReceipt(storeAccount: "a", now: later)
    try store.finish(transactionID: paid.transactionID)
    _ = try store.refreshReceipt(storeAccount: "a", now: later.adding(milliseconds: 999))
    #expect(try store.idsInReceipt() == [paid.transactionID])
    _ = try store.refreshReceipt(storeAccount: "a", now: later.adding(milliseconds: 1_000))
    #expect(try store.idsInReceipt() == [])
    #expect(store.prompts == 5)
  }
}

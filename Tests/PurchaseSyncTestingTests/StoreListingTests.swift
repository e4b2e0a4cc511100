import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// Which transactions each device gets, how often, and without which fields.
struct StoreListingTests {
  private let token = UUID()

  @Test func `each store account has its own listing, and a device shows that of the signed-in account`()
    throws
  {
    var store = Sample.store()
    let first = try store.buy(as: "a")
    let second = try store.buy(as: "b")
    store.signIn(device: "phone", storeAccount: "a")
    #expect(store.signedIn["phone"] == "a")
    store.signIn(device: "phone", storeAccount: "b")
    let listing = store.listing(storeAccount: store.signedIn["phone"], now: Sample.now)
    #expect(listing.storeAccount == "b")
    #expect(listing.transactions.map(\.transactionID) == [second.transactionID])
    #expect(store.unfinished(storeAccount: "a") == [first])
    store.signIn(device: "phone", storeAccount: nil)
    let signedOut = store.listing(storeAccount: store.signedIn["phone"], now: Sample.now)
    #expect(signedOut.storeAccount == nil && signedOut.transactions.isEmpty)
  }

  @Test(arguments: ["b", nil])
  func `a transaction of another store account is not listed and stays unfinished`(other: String?) throws {
    var store = Sample.store()
    let paid = try store.buy(as: "a")
    #expect(store.finish(transactionID: paid.transactionID, as: other) == .notListed)
    #expect(store.unfinished(storeAccount: "a") == [paid])
    #expect(store.finish(transactionID: "9", as: "a") == .notListed)
    #expect(store.finish(transactionID: paid.transactionID, as: "a") == .finished)
    #expect(store.finish(transactionID: paid.transactionID, as: "a") == .finished)
    #expect(store.unfinished(storeAccount: "a").isEmpty)
  }

  @Test func `a store that forgets finished transactions answers notListed the second time`() throws {
    var store = Sample.store()
    store.faults.forgetsFinished = true
    let paid = try store.buy()
    #expect(store.finish(transactionID: paid.transactionID, as: "a") == .finished)
    #expect(store.finish(transactionID: paid.transactionID, as: "a") == .notListed)
  }

  @Test func `the old interface keeps the token in the launch that paid and loses it after a restart`() throws
  {
    var store = Sample.store()
    store.delivery = .tokenForgotten
    try store.buy(token: token, launch: "one")
    for (launch, expected) in [("one", token), ("two", nil), (nil, nil)] {
      let listing = store.listing(storeAccount: "a", launch: launch, now: Sample.now)
      #expect(listing.transactions.map(\.accountToken) == [expected])
      #expect(listing.transactions.map(\.proofKind) == [.appReceipt])
      #expect(listing.transactions.map(\.proof) == [nil])
      #expect(listing.receipt != nil)
    }
    #expect(store.charges.map(\.accountToken) == [token])
  }

  @Test func `over both interfaces one transaction is handed over twice, signed with its token`() throws {
    var store = Sample.store()
    try store.buy(
      token: token,
      delivery: StoreDelivery(
        proofs: [.appReceipt, .signedTransaction, .transactionReceipt], forgetsToken: true))
    let listing = store.listing(storeAccount: "a", now: Sample.now)
    #expect(Set(listing.transactions.map(\.transactionID)).count == 1)
    #expect(listing.transactions.map(\.proofKind) == [.appReceipt, .signedTransaction, .transactionReceipt])
    #expect(listing.transactions.map(\.accountToken) == [nil, token, nil])
    #expect(listing.transactions.map { $0.proof != nil } == [false, true, true])
  }

  @Test func `an unverified transaction is marked, and its signature is genuine nevertheless`() throws {
    var store = Sample.store()
    try store.buy(delivery: .unverified)
    let item = try #require(store.listing(storeAccount: "a", now: Sample.now).transactions.first)
    #expect(!item.isVerified)
    #expect(store.forge.verify(try #require(item.proof)))
  }

  @Test func `a listing can repeat its transactions`() throws {
    var store = Sample.store()
    let ids = try (0..<2).map { _ in try store.buy().transactionID }
    store.faults.listingCopies = 3
    let listing = store.listing(storeAccount: "a", now: Sample.now)
    #expect(listing.transactions.map(\.transactionID) == ids + ids + ids)
    #expect(listing.receipt == nil)
  }

  @Test func `a refund delivers a finished transaction again, with its date, until it is finished again`()
    throws
  {
    var store = Sample.store()
    store.faults.forgetsFinished = true
    let old = try store.buy()
    let paid = try store.buy()
    let id = paid.transactionID
    try store.finish(transactionID: id)
    let later = Sample.now.adding(milliseconds: 5)
    try store.refund(transactionID: id, now: later)
    try store.refund(transactionID: id, now: later.adding(milliseconds: 5))
    let listing = store.listing(storeAccount: "a", now: later)
    #expect(listing.transactions.map(\.transactionID) == [old.transactionID, id])
    let jws = try #require(listing.transactions.last?.proof)
    #expect(try SignedTransaction(jws: jws).revocationDate == later.milliseconds)
    #expect(store.transaction(id)?.isFinished == true)
    #expect(store.finish(transactionID: id, as: "a") == .finished)
    #expect(store.unfinished(storeAccount: "a") == [old])
    #expect(store.finish(transactionID: id, as: "a") == .notListed)
  }

  @Test func `an upgrade marks the old period, which comes again, and charges a new one of the same chain`()
    throws
  {
    var store = StoreModel(
      products: Sample.products + [
        StoreProduct(id: "yearly", kind: .autoRenewable, period: .milliseconds(365))
      ],
      forge: Sample.forge)
    let first = try store.buy("monthly", token: token)
    try store.finish(transactionID: first.transactionID)
    let renewal = try store.renew(transactionID: first.transactionID, now: Sample.now)
    let next = try store.upgrade(transactionID: renewal.transactionID, to: "yearly", now: Sample.now)
    #expect([renewal, next].allSatisfy { $0.originalTransactionID == first.transactionID })
    #expect([renewal, next].allSatisfy { $0.accountToken == token })
    let listing = store.listing(storeAccount: "a", now: Sample.now)
    let facts = try listing.transactions.map { try SignedTransaction(jws: $0.proof ?? "") }
    #expect(facts.map(\.transactionID) == [renewal.transactionID, next.transactionID])
    #expect(facts.map(\.isUpgraded) == [true, false])
    try store.finish(transactionID: renewal.transactionID)
    try store.upgrade(transactionID: first.transactionID, to: "yearly", now: Sample.now)
    #expect(store.unfinished(storeAccount: "a").first?.transactionID == first.transactionID)
  }

  @Test func `only subscriptions renew and are upgraded, to subscriptions`() throws {
    var store = Sample.store()
    let coins = try store.buy()
    let monthly = try store.buy("monthly")
    #expect(throws: StoreModelError.noSubscription(coins.transactionID)) {
      try store.renew(transactionID: coins.transactionID, now: Sample.now)
    }
    #expect(throws: StoreModelError.noSubscription(monthly.transactionID)) {
      try store.upgrade(transactionID: monthly.transactionID, to: "coins", now: Sample.now)
    }
    #expect(throws: StoreModelError.unknownProduct("x")) {
      try store.upgrade(transactionID: monthly.transactionID, to: "x", now: Sample.now)
    }
    #expect(store.charges.count == 2)
    #expect(store.charges.allSatisfy { !$0.isUpgraded })
  }
}

import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// Purchases that wait for a decision, and events outside the app.
struct StorePeopleTests {
  private let token = UUID()

  private func waiting(_ purchase: StorePurchase) throws -> PurchaseRequest {
    guard case .waits(let request) = purchase else { throw MissingProof() }
    return request
  }

  @Test func `Ask to Buy charges when a parent agrees, days later and with the token`() throws {
    var shop = Shop()
    shop.store.setAccount("a", asksToBuy: true)
    let payment = StorePayment(productID: "coins", quantity: 2, accountToken: token, storeAccount: "a")
    let request = try waiting(try shop.store.purchase(payment, now: shop.now))
    #expect(request.origin == .askToBuy && shop.store.charges.isEmpty)
    #expect(shop.store.unfinished(storeAccount: "a").isEmpty)
    shop.wait(days: 3)
    let paid = try shop.store.approve(requestID: request.id, now: shop.now)
    #expect(paid.accountToken == token && paid.quantity == 2 && paid.purchasedAt == shop.now)
    #expect(try shop.store.approve(requestID: request.id, now: shop.now) == paid)
    #expect(shop.store.unfinished(storeAccount: "a") == [paid])
    try shop.store.decline(requestID: request.id)
    #expect(shop.store.requests.map(\.state) == [.approved(transactionID: paid.transactionID)])
  }

  @Test func `a declined purchase is never charged`() throws {
    var shop = Shop()
    shop.store.setAccount("a", asksToBuy: true)
    let request = try waiting(
      try shop.store.purchase(StorePayment(productID: "coins", storeAccount: "a"), now: shop.now))
    try shop.store.decline(requestID: request.id)
    #expect(throws: StoreModelError.unknownRequest(request.id)) {
      try shop.store.approve(requestID: request.id, now: shop.now)
    }
    #expect(throws: StoreModelError.unknownRequest("x")) { try shop.store.decline(requestID: "x") }
    #expect(throws: StoreModelError.waits("request-2")) { try shop.buy("coins") }
    #expect(shop.store.transactions.isEmpty)
  }

  @Test func `an interrupted purchase goes through later, and the next one at once`() throws {
    var shop = Shop()
    shop.store.setAccount("a", interruptedPurchases: 1)
    let payment = StorePayment(productID: "coins", accountToken: token, storeAccount: "a")
    let request = try waiting(try shop.store.purchase(payment, now: shop.now))
    #expect(request.origin == .interrupted)
    let second = try shop.buy("coins")
    let first = try shop.store.approve(requestID: request.id, now: shop.now)
    #expect(shop.store.unfinished(storeAccount: "a") == [second, first])
  }

  @Test func `the app pays a promoted purchase with its own token`() throws {
    var shop = Shop()
    let request = try shop.store.promote(product: "pro", storeAccount: "a", now: shop.now)
    #expect(request.origin == .promoted && shop.store.transactions.isEmpty)
    let paid = try shop.store.approve(requestID: request.id, accountToken: token, now: shop.now)
    #expect(paid.accountToken == token && paid.productID == "pro")
  }

  @Test func `a declined payment stays pending, and is charged when the payment method works`() throws {
    var shop = Shop()
    let request = try shop.store.promote(product: "coins", storeAccount: "a", now: shop.now)
    shop.store.setBilling(works: false, storeAccount: "a", now: shop.now)
    #expect(throws: StoreModelError.paymentDeclined) {
      try shop.store.approve(requestID: request.id, now: shop.now)
    }
    #expect(throws: StoreModelError.paymentDeclined) { try shop.buy("gold") }
    shop.store.setBilling(works: true, storeAccount: "a", now: shop.now)
    #expect(try shop.store.approve(requestID: request.id, now: shop.now).productID == "coins")
  }

  @Test func `an offer code is redeemed outside the app: no token, no price`() throws {
    var shop = Shop()
    let paid = try shop.store.redeem(
      offerCode: "SPRING", product: "gold", storeAccount: "a", now: shop.now)
    #expect(paid.accountToken == nil && paid.price == 0)
    let signed = try SignedTransaction(
      jws: try shop.store.signedTransaction(for: paid.transactionID, now: shop.now))
    #expect(signed.offerType == .code && signed.offerIdentifier == "SPRING")
    let response = try shop.ask(try shop.appReceipt())
    #expect(response.latestTransactions.map(\.offerCodeName) == ["SPRING"])
    let again = try shop.store.redeem(offerCode: "X", product: "gold", storeAccount: "a", now: shop.now)
    #expect(again == paid && shop.store.charges.count == 1)
    shop.wait(days: 30)
    shop.store.advance(to: shop.now)
    #expect(shop.store.charges.last?.price == 9_000)
  }

  @Test func `restoring gives non-consumables a new id, not a new charge, and waits until finished`() throws {
    var shop = Shop(.sandbox)
    let bought = try shop.buy("pro")
    let gold = try shop.buy("gold")
    let coins = try shop.buy("coins")
    for id in [bought, gold, coins].map(\.transactionID) { try shop.store.finish(transactionID: id) }
    for _ in 0..<2 {
      let listing = try shop.store.restore(storeAccount: "a", now: shop.now)
      #expect(
        listing.transactions.map(\.originalTransactionID) == [gold.transactionID, bought.transactionID])
      #expect(listing.transactions.map(\.productID) == ["gold", "pro"])
    }
    let restored = try #require(shop.store.transactions.last)
    #expect(restored.transactionID != bought.transactionID && restored.cause == .restore)
    #expect(shop.store.charges.count == 3 && shop.store.prompts == 2)
    #expect(try shop.store.idsInReceipt(at: shop.now)?.contains(restored.transactionID) == true)
    #expect(throws: StoreModelError.notCharged(restored.transactionID)) {
      try shop.store.refund(transactionID: restored.transactionID, now: shop.now)
    }
    try shop.store.finish(transactionID: restored.transactionID)
    try shop.store.restore(storeAccount: "a", now: shop.now)
    #expect(shop.store.transactions.count == 5)
    #expect(throws: StoreModelError.noStoreAccount) {
      try shop.store.restore(storeAccount: nil, now: shop.now)
    }
  }

  @Test func `a family has shareable purchases as its own transactions until they are revoked`() throws {
    var shop = Shop()
    try shop.buy("coins")
    let album = try shop.buy("album")
    shop.store.setFamily(of: "a", to: ["b"], now: shop.now)
    let gold = try shop.buy("gold", token: token)
    let shared = shop.store.transactions(storeAccount: "b")
    #expect(shared.map(\.productID) == ["album", "gold"])
    #expect(shared.allSatisfy { $0.cause == .familyShare && $0.accountToken == nil })
    #expect(shared.allSatisfy { $0.originalTransactionID == $0.transactionID })
    #expect(shop.store.charges.map(\.storeAccount) == ["a", "a", "a"])
    shop.wait(days: 30)
    _ = try shop.store.refreshReceipt(storeAccount: "b", now: shop.now)
    let status = try shop.status(of: "b")
    #expect(status.state == .active && status.ownership == .familyShared && status.willAutoRenew == true)
    #expect(status.originalTransactionID == shared[1].transactionID)

    for record in shop.store.transactions(storeAccount: "b") {
      try shop.store.finish(transactionID: record.transactionID)
    }
    try shop.store.refund(transactionID: album.transactionID, now: shop.now)
    #expect(shop.store.unfinished(storeAccount: "b").map(\.productID) == ["album"])
    try shop.store.reverseRefund(transactionID: album.transactionID, now: shop.now)
    #expect(shop.store.transaction(shared[0].transactionID)?.revokedAt == nil)
    shop.store.setFamily(of: "a", to: [], now: shop.now)
    let revoked = shop.store.transactions(storeAccount: "b").filter { $0.revokedAt != nil }
    // The period before had ended, so nothing of it is revoked.
    #expect(revoked.map(\.productID) == ["album", "gold"])
    #expect(try shop.status(of: "b").state == .revoked)
    let jws = try shop.store.signedTransaction(for: revoked[1].transactionID, now: shop.now)
    #expect(try SignedTransaction(jws: jws).revocationType == .familyRevoke)
    #expect(try shop.status().originalTransactionID == gold.transactionID)
    #expect(try shop.status().state == .active)
  }

  @Test func `unfinished transactions belong to the store account, not to the device`() throws {
    var shop = Shop()
    let paid = try shop.buy("coins")
    shop.store.signIn(device: "old phone", storeAccount: "a")
    shop.store.signIn(device: "old phone", storeAccount: nil)
    shop.store.signIn(device: "new phone", storeAccount: "a")
    shop.wait(days: 500)
    for launch in ["one", "two"] {
      let listing = shop.store.listing(
        storeAccount: shop.store.signedIn["new phone"], launch: launch, now: shop.now)
      #expect(listing.transactions.map(\.transactionID) == [paid.transactionID])
    }
  }
}

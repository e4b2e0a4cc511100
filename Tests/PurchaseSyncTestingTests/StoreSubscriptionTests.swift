import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseQueue
import TestSupport
import Testing

@testable import PurchaseSyncTesting

/// Subscriptions as time passes, checked by decoding the store's answers (R1.2, R2.6, R5.6).
struct StoreSubscriptionTests {
  @Test func `the same old receipt is paid, lapses, and is paid again after a renewal`() throws {
    var shop = Shop()
    let paid = try shop.buy("gold.yearly")
    try shop.store.setRenewal(on: false, transactionID: paid.transactionID, now: shop.now)
    let receipt = try shop.oldReceipt(of: paid)
    let first = try shop.ask(receipt)
    #expect(first.status == .ok && first.latestReceipt != nil)
    #expect(first.latestTransactions.map(\.transactionID) == [paid.transactionID])

    shop.wait(days: 365)
    let second = try shop.ask(receipt)
    #expect(second.status == .lapsed && second.latestReceipt == nil && second.latestTransactions.isEmpty)
    #expect(second.latestExpiredTransactions.map(\.transactionID) == [paid.transactionID])
    #expect(second.topLevelRenewal?.isInBillingRetryPeriod == false)
    #expect(second.topLevelRenewal?.expirationIntent == .cancelled)

    shop.wait(days: 100)
    let again = try shop.buy("gold.yearly")
    #expect(again.originalTransactionID == paid.transactionID)
    let third = try shop.ask(receipt)
    #expect(third.status == .ok)
    #expect(third.latestTransactions.map(\.transactionID) == [again.transactionID])
    guard case .transaction(let sent) = third.receipt else {
      Issue.record("not the old style")
      return
    }
    #expect(sent.transactionID == paid.transactionID)
    // The receipt that replaces the stored one holds the new period (R2.5).
    let newer = try shop.ask(try #require(third.latestReceipt))
    #expect(newer.status == .ok)
  }

  @Test func `the store renews by itself, each period where the one before ended`() throws {
    var shop = Shop()
    let token = UUID()
    let first = try shop.buy("gold", token: token)
    shop.wait(days: 90)
    shop.store.advance(to: shop.now)
    let chain = shop.store.charges
    #expect(chain.count == 4)
    #expect(chain.map(\.cause) == [.purchase, .renewal, .renewal, .renewal])
    #expect(chain.allSatisfy { $0.originalTransactionID == first.transactionID && $0.accountToken == token })
    #expect(chain.allSatisfy { $0.originalPurchasedAt == first.purchasedAt })
    #expect(Set(chain.compactMap(\.webOrderLineItemID)).count == 4)
    for (earlier, later) in zip(chain, chain.dropFirst()) { #expect(earlier.expiresAt == later.purchasedAt) }
    let status = try shop.status()
    #expect(status.state == .active && status.willAutoRenew == true)
    #expect(status.entitledUntil == shop.now.adding(milliseconds: 30 * Sample.day).milliseconds)
    #expect(shop.store.unfinished(storeAccount: "a").count == 4)
  }

  @Test func `an upgrade begins at once and returns the rest`() throws {
    var shop = Shop()
    let first = try shop.buy("silver")
    shop.wait(days: 7)
    shop.store.advance(to: shop.now)
    let silver = try #require(shop.store.charges.last)
    #expect(first.isTrial && !silver.isTrial && first.price == 0 && silver.price == 6_000)
    shop.wait(days: 15)
    #expect(
      try shop.store.changePlan(transactionID: first.transactionID, to: "gold", now: shop.now) == .atOnce)
    let old = try #require(shop.store.transaction(silver.transactionID))
    #expect(old.isUpgraded && old.returnedPrice == 3_000 && old.revokedAt == nil)
    let status = try shop.status()
    #expect(status.productID == "gold" && status.state == .active && !status.isChangePending)
    #expect(
      status.latestChange
        == PlanChange(previousProductID: "silver", date: shop.now.milliseconds, wasAtOnce: true))
    #expect(status.entitledUntil == shop.now.adding(milliseconds: 30 * Sample.day).milliseconds)
  }

  @Test(arguments: ["silver", "bronze", "gold.yearly"])
  func `a lower plan, and an equal one of another length, wait for the renewal`(product: String) throws {
    var shop = Shop()
    let first = try shop.buy("gold")
    let answer = try shop.buy(product)
    #expect(answer == shop.store.transaction(first.transactionID))
    let pending = try shop.status()
    #expect(pending.productID == "gold" && pending.nextProductID == product && pending.isChangePending)
    #expect(shop.store.charges.count == 1)
    shop.wait(days: 30)
    let effective = try shop.status()
    #expect(effective.productID == product && !effective.isChangePending)
    #expect(effective.latestChange?.wasAtOnce == false)
    #expect(effective.originalTransactionID == first.transactionID)
  }

  @Test func `an equal plan of the same length begins at once`() throws {
    var shop = Shop()
    try shop.buy("gold")
    shop.wait(days: 10)
    let next = try shop.buy("gold.alike")
    #expect(next.productID == "gold.alike" && next.purchasedAt == shop.now)
    #expect(try shop.status().latestChange?.wasAtOnce == true)
  }

  @Test func `a change that waits is taken back by wishing for the present plan`() throws {
    var shop = Shop()
    let first = try shop.buy("gold")
    let id = first.transactionID
    #expect(try shop.store.changePlan(transactionID: id, to: "bronze", now: shop.now) == .atRenewal)
    #expect(try shop.store.changePlan(transactionID: id, to: "bronze", now: shop.now) == .unchanged)
    #expect(try shop.store.changePlan(transactionID: id, to: "gold", now: shop.now) == .reverted)
    let reverted = try shop.status()
    #expect(!reverted.isChangePending)
    #expect(throws: StoreModelError.alreadySubscribed("gold")) { try shop.buy("gold") }
    #expect(shop.store.charges.count == 1)
  }

  @Test func `a failed charge goes through grace and retry to recovery, with no gap in grace`() throws {
    for days: Int64 in [40, 60] {
      var shop = Shop()
      let first = try shop.buy("gold")
      shop.store.setBilling(works: false, storeAccount: "a", now: shop.now)
      shop.wait(days: 30)
      let grace = try shop.status()
      let end = try #require(first.expiresAt)
      #expect(grace.state == .gracePeriod && grace.isEntitled)
      #expect(grace.entitledUntil == end.adding(milliseconds: 16 * Sample.day).milliseconds)
      shop.wait(days: days - 30)
      let later = try shop.status()
      #expect(later.state == (days == 40 ? .gracePeriod : .billingRetry))
      #expect(shop.store.charges.count == 1)
      shop.store.setBilling(works: true, storeAccount: "a", now: shop.now)
      let recovered = try #require(shop.store.charges.last)
      #expect(recovered.purchasedAt == (days == 40 ? end : shop.now))
      #expect(try shop.status().state == .active)
    }
  }

  @Test func `the store gives up after 60 days, and the receipt has the reason`() throws {
    var shop = Shop()
    let first = try shop.buy("silver")
    let receipt = try shop.oldReceipt(of: first)
    shop.store.setBilling(works: false, storeAccount: "a", now: shop.now)
    shop.wait(days: 7)
    let retried = try shop.ask(receipt)
    #expect(retried.status == .lapsed && retried.topLevelRenewal?.isInBillingRetryPeriod == true)
    #expect(try shop.status().state == .billingRetry)
    shop.wait(days: 59)
    #expect(try shop.status().state == .billingRetry)
    shop.wait(days: 1)
    #expect(try shop.status().state == .lapsed(.billingError))
    shop.store.setBilling(works: true, storeAccount: "a", now: shop.now)
    #expect(shop.store.charges.count == 1)
    // There is no second trial.
    let again = try shop.buy("silver")
    #expect(!again.isTrial && again.originalTransactionID == first.transactionID && again.price == 6_000)
  }

  @Test(arguments: [true, false, nil])
  func `a higher price needs consent, and ends the subscription without it`(consents: Bool?) throws {
    var shop = Shop()
    let first = try shop.buy("gold")
    try shop.store.raisePrice(product: "gold", to: 12_000, needsConsent: true, now: shop.now)
    #expect(try shop.status().priceIncreaseStatus == .pending)
    if let consents {
      try shop.store.answerPriceIncrease(
        transactionID: first.transactionID, consents: consents, now: shop.now)
      #expect(try shop.status().willAutoRenew == consents)
    }
    shop.wait(days: 30)
    let status = try shop.status()
    #expect(status.state == (consents == true ? .active : .lapsed(.priceIncreaseDeclined)))
    #expect(shop.store.charges.last?.price == (consents == true ? 12_000 : 9_000))
  }

  @Test func `a product that is withdrawn ends with its period`() throws {
    var shop = Shop()
    try shop.buy("gold")
    try shop.store.setForSale(false, product: "gold")
    shop.wait(days: 30)
    #expect(try shop.status().state == .lapsed(.productUnavailable))
    #expect(throws: StoreModelError.unknownProduct("gold")) { try shop.buy("gold") }
  }

  @Test func `a refund of the present period ends it, of an earlier one changes nothing else`() throws {
    var shop = Shop()
    let first = try shop.buy("gold")
    shop.wait(days: 30)
    shop.store.advance(to: shop.now)
    let second = try #require(shop.store.charges.last)
    try shop.store.refund(transactionID: first.transactionID, now: shop.now)
    let active = try shop.status()
    #expect(active.state == .active && active.revokedTransactionIDs == [first.transactionID])
    try shop.store.refund(transactionID: second.transactionID, now: shop.now)
    let refunded = try shop.status()
    #expect(refunded.state == .refunded && refunded.willAutoRenew == false)
    try shop.store.reverseRefund(transactionID: second.transactionID, now: shop.now)
    #expect(try shop.status().state == .active)
    shop.wait(days: 30)
    #expect(try shop.status().state == .lapsed(.cancelled))
    #expect(shop.store.charges.count == 2)
  }

  @Test func `renewal that is turned off ends it with the period, and can be turned on before`() throws {
    var shop = Shop()
    let id = try shop.buy("gold").transactionID
    #expect(try shop.store.setRenewal(on: false, transactionID: id, now: shop.now))
    #expect(try shop.store.setRenewal(on: false, transactionID: id, now: shop.now) == false)
    #expect(try shop.status().willAutoRenew == false)
    #expect(try shop.store.setRenewal(on: true, transactionID: id, now: shop.now))
    shop.wait(days: 30)
    #expect(try shop.status().state == .active)
    #expect(try shop.store.setRenewal(on: false, transactionID: id, now: shop.now))
    shop.wait(days: 30)
    #expect(try shop.status().state == .lapsed(.cancelled))
    #expect(try shop.store.setRenewal(on: true, transactionID: id, now: shop.now) == false)
  }

  @Test(arguments: [("bronze", 3), ("gold", 5), ("gold.yearly", 60)] as [(String, Int64)])
  func `the sandbox renews after minutes, twelve times`(product: String, minutes: Int64) throws {
    var shop = Shop(.sandbox, pace: .sandbox)
    let first = try shop.buy(product)
    #expect(first.expiresAt == shop.now.adding(milliseconds: minutes * 60_000))
    shop.wait(days: 1)
    #expect(try shop.status().state == .lapsed(.cancelled))
    #expect(shop.store.charges.count == 13)
  }

  @Test(.enabled(if: LongTests.areOn))
  func `a clock that jumps by many years is processed in bounded steps`() throws {
    var shop = Shop(pace: .faster(1_000_000_000))
    try shop.buy("gold")
    shop.wait(days: 1)
    shop.store.advance(to: shop.now)
    let count = shop.store.charges.count
    #expect(count == 10_001)
    shop.store.advance(to: Sample.now)
    #expect(shop.store.charges.count == count)
    var last = Shop()
    try last.buy("gold")
    last.store.advance(to: Timestamp(milliseconds: .max))
    #expect(last.store.charges.count == 10_001)
  }
}

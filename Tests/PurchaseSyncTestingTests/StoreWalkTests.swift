import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import TestSupport
import Testing

@testable import PurchaseSyncTesting

/// Random actions of people at the store. A simple observer checks the results.
struct StoreWalkTests {
  private static let accounts = ["a", "b", "c"]

  private struct Walk {
    var shop: Shop
    var observer = StoreObserver()
    var random: SplitMix64

    init(seed: UInt64) {
      random = SplitMix64(seed: seed)
      shop = Shop(
        seed % 2 == 0 ? .production : .sandbox,
        pace: seed % 3 == 0 ? .real : seed % 3 == 1 ? .sandbox : .faster(1_000))
      // Version 1 lists a hundred transactions in each notification and would take most of the time.
      shop.store.notifications.versions = seed % 4 == 0 ? [.one, .two] : [.two]
      shop.store.notifications.copies = seed % 5 == 0 ? 2 : 1
      shop.store.notifications.delays = seed % 7 == 0 ? [.milliseconds(86_400_000), .zero] : []
    }

    mutating func pick<T>(_ items: [T]) -> T { items[Int(random.next() % UInt64(items.count))] }

    mutating func wait() {
      let day = Sample.day
      let lengths: [Int64] =
        shop.store.pace == .real
        ? [0, 1, 1_000, day, 7 * day, 31 * day, 70 * day] : [0, 1, 1_000, 60_000, 300_000, 3_600_000]
      shop.now = shop.now.adding(milliseconds: pick(lengths))
    }

    mutating func step() throws {
      wait()
      let account = pick(StoreWalkTests.accounts)
      let known = shop.store.transactions
      let id = known.isEmpty || random.next() % 50 == 0 ? "9" : pick(known.map(\.transactionID))
      do throws(StoreModelError) {
        try act(account, id)
      } catch {
        // Refusals are allowed. The observer checks that they change nothing.
        #expect(!error.description.isEmpty)
      }
      shop.store.advance(to: shop.now)
      observer.look(at: shop.store, accounts: StoreWalkTests.accounts, now: shop.now)
      let due = shop.store.takeNotifications(now: shop.now)
      try observer.read(due, shop.store)
      for notification in due {
        let status = pick([200, 200, 500, nil])
        shop.store.settleNotification(id: notification.id, status: status, now: shop.now)
      }
    }

    private mutating func act(_ account: String, _ id: String) throws(StoreModelError) {
      // Gold has a grace period and is shared, so most kinds of events apply to it.
      let products = Shop.products.map(\.id) + ["gold", "gold", "gold"]
      switch random.next() % 20 {
      case 0...4:
        let payment = StorePayment(productID: pick(products), storeAccount: account)
        _ = try shop.store.purchase(payment, now: shop.now)
      case 5...8:
        guard let record = shop.store.transaction(id) else { throw .unknownTransaction(id) }
        if shop.store.finish(transactionID: id, as: record.storeAccount) == .finished {
          observer.finished(id, of: record.storeAccount)
        }
      case 9: try shop.store.refund(transactionID: id, now: shop.now)
      case 10: try shop.store.reverseRefund(transactionID: id, now: shop.now)
      case 11: try shop.store.changePlan(transactionID: id, to: pick(products), now: shop.now)
      case 12: try shop.store.setRenewal(on: pick([true, false]), transactionID: id, now: shop.now)
      case 13: shop.store.setBilling(works: pick([true, false]), storeAccount: account, now: shop.now)
      case 14:
        try shop.store.raisePrice(
          product: "gold", to: 9_500, needsConsent: pick([true, false]), now: shop.now)
      case 15:
        try shop.store.answerPriceIncrease(transactionID: id, consents: pick([true, false]), now: shop.now)
      case 16: try decide(account)
      case 17: shop.store.setFamily(of: "a", to: pick([[], ["b"], ["b", "c"]]), now: shop.now)
      case 18: try shop.store.restore(storeAccount: account, now: shop.now)
      default:
        try shop.store.redeem(offerCode: "X", product: pick(products), storeAccount: account, now: shop.now)
      }
    }

    private mutating func decide(_ account: String) throws(StoreModelError) {
      shop.store.setAccount(
        account, asksToBuy: pick([true, false, false]), interruptedPurchases: pick([0, 0, 1]))
      guard let request = shop.store.requests.last else { return }
      if random.next() % 3 == 0 {
        try shop.store.decline(requestID: request.id)
      } else {
        try shop.store.approve(requestID: request.id, now: shop.now)
      }
    }
  }

  @Test(arguments: LongTests.seeds(short: 2, long: 6))
  func `no charge is lost, doubled or changed`(seed: UInt64) throws {
    var walk = Walk(seed: seed)
    var steps = 0
    // Some walks buy late, and without purchases nothing can be lost.
    while steps < 60 || walk.shop.store.transactions.count < 3 && steps < 6_000 {
      try walk.step()
      if steps % 6 == 0 { try walk.observer.compare(&walk.shop, walk.pick(Self.accounts)) }
      steps += 1
    }
    #expect(walk.shop.store.transactions.count > 2)
  }

  @Test(.enabled(if: LongTests.areOn))
  func `the same seed gives the same walk, and a few seeds reach every kind of event`() throws {
    var causes: Set<StoreTransactionRecord.Cause> = []
    var kinds: Set<String> = []
    var states: Set<Int> = []
    var stores: [StoreModel] = []
    for seed: UInt64 in [2, 3, 4, 5, 9, 21, 33, 33] {
      var walk = Walk(seed: seed)
      for _ in 0..<80 {
        try walk.step()
        kinds.formUnion(
          walk.shop.store.notifications.fates.map { $0.notification.kind + ($0.notification.subtype ?? "") })
        states.formUnion(walk.shop.store.subscriptions.values.map(\.state.rawValue))
      }
      causes.formUnion(walk.shop.store.transactions.map(\.cause))
      stores.append(walk.shop.store)
    }
    #expect(stores[6] == stores[7])
    #expect(causes == [.purchase, .renewal, .restore, .familyShare])
    #expect(states == [1, 2, 3, 4, 5], "active, expired, in retry, in grace, revoked")
    #expect(kinds.count >= 20)
  }
}

import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import TestSupport
import Testing

@testable import PurchaseSyncTesting

/// The store in a file: the rows that each step writes lead to the same store.
struct KeptStoreTests {
  private typealias Rows = [String: [String: String]]

  private static func apply(_ writes: [StoreRowWrite], to rows: inout Rows) {
    for write in writes {
      switch write {
      case .clear: rows = [:]
      case .clearPart(let part): rows[part] = nil
      case .put(let part, let key, let value): rows[part, default: [:]][key] = value
      case .remove(let part, let key): rows[part]?[key] = nil
      }
    }
  }

  private static func read(_ rows: Rows) throws -> StoreModel? {
    var keeper = StoreKeeper()
    let list = rows.flatMap { part in part.value.map { (part: part.key, key: $0.key, value: $0.value) } }
    return try keeper.state(in: list)?.state.store
  }

  /// The store from one document: without what follows from the rest only.
  private static func plain(_ store: StoreModel) throws -> StoreModel {
    try JSONDecoder().decode(StoreModel.self, from: try JSONEncoder().encode(store))
  }

  private static func save(
    _ store: inout StoreModel, _ keeper: inout StoreKeeper, _ rows: inout Rows, at now: Timestamp
  ) throws -> [StoreRowWrite] {
    var kept = KeptState(store: store)
    let writes = try keeper.changes(of: &kept, now: now)
    store = kept.store
    apply(writes, to: &rows)
    return writes
  }

  private static func act(_ shop: inout Shop, _ random: inout SplitMix64) {
    let account = ["a", "b", "c"].randomElement(using: &random) ?? "a"
    let any = shop.store.transactions.randomElement(using: &random)?.transactionID ?? "none"
    shop.now = shop.now.adding(milliseconds: Int64.random(in: 1...(3 * Sample.day), using: &random))
    let now = shop.now
    let product =
      ["coins", "pro", "gold", "silver", "album", "pass"].randomElement(using: &random) ?? "coins"
    let payment = StorePayment(productID: product, storeAccount: account, launch: "launch-\(now)")
    do throws(StoreModelError) {
      switch Int.random(in: 0..<18, using: &random) {
      case 0...3: _ = try shop.store.purchase(payment, now: now)
      case 4, 5: try shop.store.finish(transactionID: any)
      case 6: try shop.store.refund(transactionID: any, now: now)
      case 7: try shop.store.reverseRefund(transactionID: any, now: now)
      case 8: _ = shop.store.receipt(storeAccount: account, now: now)
      case 9: _ = try shop.store.refreshReceipt(storeAccount: account, now: now)
      case 10: shop.store.setFamily(of: account, to: Bool.random(using: &random) ? ["d", "e"] : [], now: now)
      case 11: shop.store.setAccount(account, asksToBuy: Bool.random(using: &random), interruptedPurchases: 1)
      case 12:
        for request in shop.store.requests where request.state == .waiting {
          try shop.store.approve(requestID: request.id, now: now)
        }
      case 13: shop.store.setBilling(works: Bool.random(using: &random), storeAccount: account, now: now)
      case 14: try shop.store.changePlan(transactionID: any, to: "gold.alike", now: now)
      case 15: try shop.store.raisePrice(product: "silver", to: 7_000, needsConsent: true, now: now)
      case 16: _ = try shop.store.restore(storeAccount: account, now: now)
      default:
        for notification in shop.store.takeNotifications(now: now) {
          let status = Bool.random(using: &random) ? 200 : 500
          shop.store.settleNotification(id: notification.id, status: status, now: now)
        }
        shop.store.signIn(device: "phone", storeAccount: account)
      }
    } catch {
      return  // The store may refuse an act.
    }
  }

  @Test(arguments: LongTests.seeds(short: 6, long: 15))
  func `a store of random purchases is the same after each of its restarts`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var shop = Shop()
    shop.store.notifications.versions = [.one, .two]
    var (keeper, rows) = (StoreKeeper(), Rows())
    var acts = 0
    // The store refuses many acts: a life goes on until it has a few purchases.
    while acts < 60 || shop.store.transactions.count <= 5 {
      acts += 1
      Self.act(&shop, &random)
      _ = try Self.save(&shop.store, &keeper, &rows, at: shop.now)
      // Everything that was written is known to be written.
      #expect(try Self.save(&shop.store, &keeper, &rows, at: shop.now).isEmpty)
      let read = try #require(try Self.read(rows))
      #expect(try read == Self.plain(shop.store))
      // What follows from the rows, and is in none.
      for account in ["a", "b", "c", "d", "e"] {
        #expect(read.unfinished(storeAccount: account) == shop.store.unfinished(storeAccount: account))
        #expect(read.told(of: account) == shop.store.told(of: account))
        var (one, other) = (read, shop.store)
        #expect(
          one.receipt(storeAccount: account, now: shop.now)
            == other.receipt(storeAccount: account, now: shop.now))
      }
      #expect(
        read.nextTransactionID == shop.store.nextTransactionID && read.nextStepAt == shop.store.nextStepAt)
    }
  }

  @Test func `a purchase writes its own rows and not those of a thousand others`() throws {
    var shop = Shop()
    for _ in 0..<1_000 { _ = try shop.store.buy() }
    var (keeper, rows) = (StoreKeeper(), Rows())
    #expect(try Self.save(&shop.store, &keeper, &rows, at: shop.now).count > 1_000)
    let paid = try shop.store.buy()
    #expect(try Self.save(&shop.store, &keeper, &rows, at: shop.now).count < 8)
    try shop.store.finish(transactionID: paid.transactionID)
    let writes = try Self.save(&shop.store, &keeper, &rows, at: shop.now)
    #expect(writes.count < 8)
    let bytes = writes.reduce(0) { if case .put(_, _, let value) = $1 { $0 + value.utf8.count } else { $0 } }
    #expect(bytes < 8_192)
  }

  @Test func `a model that takes another one's place is written whole`() throws {
    var shop = Shop()
    var (keeper, rows) = (StoreKeeper(), Rows())
    _ = try shop.store.buy()
    _ = try Self.save(&shop.store, &keeper, &rows, at: shop.now)
    let saved = shop.store
    _ = try shop.store.buy()
    _ = try shop.store.buy("pro")
    _ = try Self.save(&shop.store, &keeper, &rows, at: shop.now)
    shop.store = saved
    _ = try Self.save(&shop.store, &keeper, &rows, at: shop.now)
    #expect(try Self.read(rows)?.transactions == saved.transactions)
    shop.store = Sample.store()
    _ = try Self.save(&shop.store, &keeper, &rows, at: shop.now)
    #expect(try Self.read(rows)?.transactions == [])
  }

  @Test func `a transaction whose row is missing is no reason to number the others anew`() throws {
    var shop = Shop()
    var (keeper, rows) = (StoreKeeper(), Rows())
    for _ in 0..<3 { _ = try shop.store.buy() }
    _ = try Self.save(&shop.store, &keeper, &rows, at: shop.now)
    rows["store.log.records"]?["1"] = nil
    #expect(throws: DecodingError.self) { try Self.read(rows) }
  }
}

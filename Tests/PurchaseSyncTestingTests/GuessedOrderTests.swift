import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// Orders that a device guessed, because a proof names no token. What the store says later about the payer wins.
struct GuessedOrderTests {
  private static let bundle = StoreProduct(
    bundle: "all", of: [.init("silver"), .init("news")], groupID: "bundles",
    period: .milliseconds(30 * Sample.day), price: 12_000)

  private var shop: Shop
  private var backend = BackendFixture()

  init() {
    shop = Shop()
    shop.store = StoreModel(products: Shop.products + [Self.bundle], forge: Sample.forge)
  }

  /// Alice and bob share an Apple ID, and both wait for the same product.
  private mutating func orders(of product: String) throws -> (hers: BackendOrder, his: BackendOrder) {
    (try backend.order("alice", product: product), try backend.order("bob", product: product))
  }

  /// The transactions of her payment for the bundle.
  private mutating func paid(_ tokens: BundleTokens, _ order: BackendOrder) throws -> [StoreTransactionRecord]
  {
    shop.store.bundleTokens = tokens
    try shop.buy("all", token: order.accountToken)
    return shop.store.transactions
  }

  private mutating func guess(_ record: StoreTransactionRecord, _ order: BackendOrder) throws -> ClaimVerdict
  {
    try backend.upload(
      Sample.claim(for: record, match: .proposed, candidates: [order.number]), holding: [record],
      as: .account(order.account), at: shop.now)
  }

  private mutating func bind(_ record: StoreTransactionRecord, _ order: BackendOrder) throws -> ClaimVerdict {
    try backend.upload(
      Sample.claim(for: record, match: .bound, order: order.number), holding: [record],
      as: .account(order.account), at: shop.now)
  }

  private func expectHers(
    _ hers: BackendOrder, _ his: BackendOrder, at location: SourceLocation = #_sourceLocation
  ) {
    #expect(
      backend.model.credits.allSatisfy { backend.model.owner(of: $0) == .account("alice") },
      sourceLocation: location)
    #expect(backend.model.credits.compactMap(\.orderNumber) == [hers.number], sourceLocation: location)
    #expect(backend.model.order(number: his.number)?.state == .open, sourceLocation: location)
    #expect(backend.model.order(number: his.number)?.fulfilledBy == nil, sourceLocation: location)
  }

  @Test(arguments: [BundleTokens.first, .none])
  mutating func `a bundle is its payer's, although bob's phone guessed his order first`(
    tokens: BundleTokens
  ) throws {
    let (hers, his) = try orders(of: "all")
    let records = try paid(tokens, hers)
    let guessed = try guess(records[1], his)
    #expect(guessed.verdict == .granted)
    // Her sheet returned it, with or without the token.
    let bound = try bind(records[0], hers)
    #expect(bound.verdict == .granted)
    #expect(bound.orderNumber == hers.number)
    expectHers(hers, his)
    let again = try guess(records[1], his)
    #expect(again.verdict == .otherOwner)
    expectHers(hers, his)
  }

  @Test mutating func `a token that the store has shown keeps a later guess about the bundle out`() throws {
    let (hers, his) = try orders(of: "all")
    let records = try paid(.first, hers)
    _ = try bind(records[0], hers)
    let guessed = try guess(records[1], his)
    #expect(guessed.verdict == .otherOwner)
    expectHers(hers, his)
  }

  @Test mutating func `his next payment fulfils the order that a guess had taken`() throws {
    let (hers, his) = try orders(of: "all")
    let records = try paid(.first, hers)
    _ = try guess(records[1], his)
    _ = try bind(records[0], hers)
    try shop.buy("all", as: "b", token: his.accountToken)
    let record = try #require(shop.store.transactions.first { $0.accountToken == his.accountToken })
    let verdict = try bind(record, his)
    #expect(verdict.verdict == .granted)
    #expect(verdict.orderNumber == his.number)
    #expect(backend.model.entitlements(account: "alice", now: shop.now) == ["silver": 1, "news": 1])
  }

  /// An order and its transaction stay together: no money went to a wrong account.
  @Test mutating func `one payment of a bundle fulfils one order, also if two of hers are open`() throws {
    let hers = try backend.order("alice", product: "all")
    let other = try backend.order("alice", product: "all", key: "other")
    let records = try paid(.first, hers)
    _ = try guess(records[1], other)
    let bound = try bind(records[0], hers)
    #expect(bound.verdict == .granted)
    expectHers(other, hers)
  }

  @Test(arguments: ["coins", "pro", "silver"])
  mutating func `the token that the store shows later wins over the guess`(product: String) throws {
    let (hers, his) = try orders(of: product)
    let record = try shop.buy(product, token: hers.accountToken)
    // An old receipt names no token.
    var bare = record
    bare.accountToken = nil
    #expect(try guess(bare, his).verdict == .granted)
    #expect(try bind(record, hers).verdict == .granted)
    expectHers(hers, his)
    #expect(try guess(bare, his).verdict == .otherOwner)
    expectHers(hers, his)
  }
}

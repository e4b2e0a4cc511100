import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// Bundles at the mock store, and what the backend makes of their transactions.
struct StoreBundleTests {
  private static let bundle = StoreProduct(
    bundle: "all", of: [.init("silver"), .init("news"), .init("radio", of: "com.partner.app")],
    groupID: "bundles",
    period: .milliseconds(30 * Sample.day), price: 12_000)

  private static func shop(_ tokens: BundleTokens = .all) -> Shop {
    var shop = Shop()
    shop.store = StoreModel(products: Shop.products + [bundle], forge: Sample.forge)
    shop.store.bundleTokens = tokens
    return shop
  }

  private static func facts(_ record: StoreTransactionRecord, at now: Timestamp) throws -> SignedTransaction {
    try SignedTransaction(jws: Sample.forge.signedTransaction(record, signedAt: now))
  }

  private static func upload(
    _ record: StoreTransactionRecord, to backend: inout BackendFixture, order: String? = nil,
    as uploader: Uploader = .account("alice"), at now: Timestamp
  ) throws -> ClaimVerdict {
    let claim = Sample.claim(for: record, match: order == nil ? .none : .bound, order: order)
    return try backend.upload(claim, holding: [record], as: uploader, at: now)
  }

  // MARK: The store

  @Test(arguments: BundleTokens.allCases)
  func `a payment makes a transaction for each subscription of this app`(tokens: BundleTokens) throws {
    var shop = Self.shop(tokens)
    let token = UUID()
    let first = try shop.buy("all", token: token)
    let all = shop.store.transactions
    #expect(all.map(\.productID) == ["silver", "news"])
    #expect(first == all[0])
    #expect(Set(all.map { $0.bundle?.transactionID }).count == 1)
    #expect(all.allSatisfy { $0.bundle?.productID == "all" && $0.bundle?.groupID == "bundles" })
    #expect(all.count { $0.accountToken == token } == (tokens == .all ? 2 : tokens == .first ? 1 : 0))
    #expect(first.accountToken == (tokens == .none ? nil : token))
    let signed = try Self.facts(all[1], at: shop.now)
    #expect(signed.bundle == all[1].bundle)
    #expect(throws: StoreModelError.self) { try shop.buy("all") }
  }

  @Test func `a renewal is one payment for all of its subscriptions`() throws {
    var shop = Self.shop()
    try shop.buy("all")
    shop.wait(days: 31)
    shop.store.advance(to: shop.now)
    let renewed = shop.store.transactions.filter { $0.cause == .renewal }
    #expect(renewed.map(\.productID) == ["silver", "news"])
    #expect(Set(renewed.map { $0.bundle?.transactionID }).count == 1)
    #expect(Set(shop.store.transactions.map { $0.bundle?.transactionID }).count == 2)
    #expect(Set(shop.store.transactions.map { $0.bundle?.originalTransactionID }).count == 1)
  }

  @Test func `a bundle takes the place of a subscription that it contains`() throws {
    var shop = Self.shop()
    let silver = try shop.buy("silver")
    shop.wait(days: 3)
    try shop.buy("all")
    let old = try #require(shop.store.transaction(silver.transactionID))
    #expect(old.isUpgradedToBundle)
    #expect(!old.isTakenBack)
    let signed = try Self.facts(old, at: shop.now)
    #expect(signed.revocationReason == .upgradedToBundle)
    #expect(signed.revocationType == nil)
    shop.wait(days: 60)
    shop.store.advance(to: shop.now)
    #expect(shop.store.transactions.filter { $0.originalTransactionID == silver.transactionID }.count == 1)
  }

  @Test(arguments: [true, false])
  func `who leaves a bundle keeps a subscription alone, or ends it`(keeps: Bool) throws {
    var shop = Self.shop()
    let silver = try shop.buy("all")
    #expect(try shop.store.leaveBundle(transactionID: silver.transactionID, keeps: keeps, now: shop.now))
    #expect(try !shop.store.leaveBundle(transactionID: silver.transactionID, keeps: keeps, now: shop.now))
    let renewal = try #require(shop.store.renewal(of: silver.originalTransactionID))
    let forge = NotificationForge(receipts: Sample.forge)
    let info = try SignedRenewalInfo(jws: forge.signedRenewalInfo(renewal, signedAt: shop.now))
    #expect(info.willUnbundle == keeps)
    #expect(info.bundle == nil)
    shop.wait(days: 31)
    shop.store.advance(to: shop.now)
    let chain = shop.store.transactions.filter { $0.originalTransactionID == silver.originalTransactionID }
    let other = shop.store.transactions.filter { $0.productID == "news" }
    #expect(other.count == 2)
    #expect(other.allSatisfy { $0.bundle != nil })
    if keeps {
      #expect(chain.count == 2)
      #expect(chain.last?.bundle == nil)
      #expect(chain.last?.price == 6_000)
    } else {
      #expect(chain.count == 1)
      #expect(shop.store.renewal(of: silver.originalTransactionID)?.expirationIntent == 6)
    }
  }

  @Test func `a refund of a bundle refunds each of its subscriptions, and can be reversed`() throws {
    var shop = Self.shop()
    let first = try shop.buy("all")
    try shop.store.refund(transactionID: first.transactionID, now: shop.now)
    #expect(shop.store.transactions.count { $0.isTakenBack } == 2)
    try shop.store.reverseRefund(transactionID: first.transactionID, now: shop.now)
    #expect(shop.store.transactions.count { $0.isTakenBack } == 0)
  }

  @Test func `a code for any kind of product gives what the product is`() throws {
    for product in ["coins", "pro", "pass", "gold", "all"] {
      var shop = Self.shop()
      let given = try shop.store.redeem(
        offerCode: "SPRING", product: product, storeAccount: "a", now: shop.now)
      let signed = try shop.store.transactions.map { try Self.facts($0, at: shop.now) }
      #expect(given.accountToken == nil)
      #expect(signed.allSatisfy { $0.offerType == .code })
      #expect(signed.count == (product == "all" ? 2 : 1))
    }
  }

  // MARK: The backend

  @Test(arguments: BundleTokens.allCases, [false, true])
  func `the payment of a bundle credits every subscription once, and its order once`(
    tokens: BundleTokens, isReversed: Bool
  ) throws {
    var (shop, backend) = (Self.shop(tokens), BackendFixture())
    let order = try backend.order("alice", product: "all")
    try shop.buy("all", token: order.accountToken)
    var records = shop.store.transactions
    if isReversed { records.reverse() }
    for _ in 0..<2 {
      for (place, record) in records.enumerated() {
        // What has no token comes from the device, except the one that the sheet returned.
        let isBound = place == 0 || record.accountToken != nil
        let verdict = try Self.upload(
          record, to: &backend, order: isBound ? order.number : nil,
          as: isBound ? .account("alice") : .device(backend.device), at: shop.now)
        #expect(verdict.verdict.isSettled)
        #expect(verdict.verdict != .refunded)
      }
    }
    #expect(backend.model.credits.count == 2)
    #expect(Set(backend.model.credits.map(\.productID)) == ["silver", "news"])
    #expect(backend.model.credits.allSatisfy { backend.model.owner(of: $0) == .account("alice") })
    #expect(backend.model.credits.count { $0.orderNumber == order.number } == 1)
    #expect(backend.model.order(number: order.number)?.state == .delivered)
  }

  @Test func `a device's credit is the payer's once another transaction of the payment has the order`() throws
  {
    var (shop, backend) = (Self.shop(.first), BackendFixture())
    let order = try backend.order("alice", product: "all")
    try shop.buy("all", token: order.accountToken)
    let records = shop.store.transactions
    _ = try Self.upload(records[1], to: &backend, as: .device(backend.device), at: shop.now)
    #expect(backend.model.credits.map(\.owner) == [.device(backend.device)])
    _ = try Self.upload(records[0], to: &backend, order: order.number, at: shop.now)
    #expect(backend.model.credits.map(\.owner) == [.account("alice"), .account("alice")])
    #expect(backend.model.entitlements(account: "alice", now: shop.now) == ["silver": 1, "news": 1])
  }

  @Test func `what another account got before is the payer's, once the payer's order is fulfilled`() throws {
    var (shop, backend) = (Self.shop(.first), BackendFixture())
    let order = try backend.order("alice", product: "all")
    try shop.buy("all", token: order.accountToken)
    let records = shop.store.transactions
    // Bob's phone, on the same Apple ID, was faster, and its policy says that what names no owner is his.
    _ = try Self.upload(records[1], to: &backend, as: .account("bob"), at: shop.now)
    _ = try Self.upload(records[0], to: &backend, order: order.number, at: shop.now)
    #expect(backend.model.credits.map(\.owner) == [.account("alice"), .account("alice")])
    #expect(
      try Self.upload(records[1], to: &backend, as: .account("bob"), at: shop.now).verdict == .otherOwner)
    #expect(backend.model.entitlements(account: "bob", now: shop.now).isEmpty)
  }

  @Test func `another account does not get a subscription of a bundle that it did not pay for`() throws {
    var (shop, backend) = (Self.shop(.first), BackendFixture())
    let order = try backend.order("alice", product: "all")
    try shop.buy("all", token: order.accountToken)
    let records = shop.store.transactions
    _ = try Self.upload(records[0], to: &backend, order: order.number, at: shop.now)
    let verdict = try Self.upload(records[1], to: &backend, as: .account("bob"), at: shop.now)
    #expect(verdict.verdict == .otherOwner)
    #expect(backend.model.entitlements(account: "bob", now: shop.now).isEmpty)
    #expect(backend.model.entitlements(account: "alice", now: shop.now)["news"] == 1)
  }

  @Test func `the switch to a bundle is an upgrade: no refund, and the same access`() throws {
    var (shop, backend) = (Self.shop(), BackendFixture())
    let silver = try shop.buy("silver")
    _ = try Self.upload(silver, to: &backend, at: shop.now)
    shop.wait(days: 3)
    let order = try backend.order("alice", product: "all")
    try shop.buy("all", token: order.accountToken)
    let old = try #require(shop.store.transaction(silver.transactionID))
    let verdict = try Self.upload(old, to: &backend, at: shop.now)
    #expect(verdict.verdict == .duplicate)
    #expect(backend.model.reversals.isEmpty)
    #expect(backend.model.entitlements(account: "alice", now: shop.now)["silver"] == nil)
    for record in shop.store.transactions.dropFirst() {
      _ = try Self.upload(record, to: &backend, order: order.number, at: shop.now)
    }
    #expect(backend.model.entitlements(account: "alice", now: shop.now) == ["silver": 1, "news": 1])
  }

  @Test func `a real refund after the switch still counts`() throws {
    var (shop, backend) = (Self.shop(), BackendFixture())
    let silver = try shop.buy("silver")
    shop.wait(days: 3)
    try shop.buy("all")
    var old = try #require(shop.store.transaction(silver.transactionID))
    _ = try Self.upload(old, to: &backend, at: shop.now)
    old.revocationReason = .other
    shop.wait(days: 1)
    #expect(try Self.upload(old, to: &backend, at: shop.now).verdict == .refunded)
  }

  @Test(arguments: [nil, UUID()], [Uploader.account("bob"), .device(UUID())])
  func `a member app credits what it never sold to who uploads it`(token: UUID?, uploader: Uploader) throws {
    var (shop, backend) = (Self.shop(), BackendFixture())
    let elsewhere = StoreProduct(
      bundle: "partners", of: [.init("unheard")], period: .milliseconds(30 * Sample.day))
    let records = try shop.store.receive(elsewhere, soldElsewhereTo: "a", accountToken: token, now: shop.now)
    #expect(records.map(\.productID) == ["unheard"])
    let verdict = try Self.upload(records[0], to: &backend, as: uploader, at: shop.now)
    #expect(verdict.verdict == .granted)
    #expect(backend.model.credits.map(\.owner) == [uploader])
    shop.wait(days: 31)
    shop.store.advance(to: shop.now)
    #expect(shop.store.transactions.count == 2)
  }
}

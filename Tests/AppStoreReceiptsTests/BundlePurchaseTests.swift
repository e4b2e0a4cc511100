import AppStoreDocuments
import AppStoreReceipts
import Foundation
import Testing

/// Bundles and suites in signed documents, and in the status of a subscription.
struct BundlePurchaseTests {
  private static let now: Int64 = 1_700_000_000_000
  private static let day: Int64 = 86_400_000

  private static func transaction(_ more: String, id: String = "1") throws -> SignedTransaction {
    let payload = #"""
      {"transactionId":"\#(id)","productId":"silver","purchaseDate":\#(now),"type":"Auto-Renewable Subscription",
      "expiresDate":\#(now + 30 * day),"originalTransactionId":"1"\#(more)}
      """#
    return try SignedTransaction(payload: Data(payload.utf8))
  }

  private static let fields = #"""
    ,"bundleProductId":"all","bundleSubscriptionGroupIdentifier":"g","bundleTransactionId":"9","bundleOriginalTransactionId":"8"
    """#

  @Test func `a transaction names the bundle that was paid, and the subscription in it`() throws {
    let read = try Self.transaction(Self.fields)
    #expect(read.productID == "silver")
    #expect(
      read.bundle
        == BundlePurchase(productID: "all", groupID: "g", transactionID: "9", originalTransactionID: "8"))
    #expect(read.unknownFields.isEmpty)
    #expect(try Self.transaction("").bundle == nil)
  }

  @Test(arguments: ["7", "[]", "{}", "true"])
  func `a genuine purchase is not refused for a field of its bundle`(value: String) throws {
    let read = try Self.transaction(#","bundleProductId":\#(value),"bundleTransactionId":"9""#)
    #expect(read.transactionID == "1")
    #expect(read.bundle?.transactionID == "9")
    #expect(read.bundle?.productID == nil || value == "7")
  }

  @Test func `the kinds, reasons and statements about a bundle are known words`() throws {
    let suite = try Self.transaction(#","revocationDate":5,"revocationReason":2"#)
    #expect(suite.revocationReason == .upgradedToBundle)
    #expect(suite.isUpgradedToBundle)
    #expect(try !Self.transaction(#","revocationReason":2"#).isUpgradedToBundle)
    #expect(try !Self.transaction(#","revocationDate":5,"revocationReason":1"#).isUpgradedToBundle)
    let payload = #"""
      {"originalTransactionId":"1","willUnbundle":true,"expirationIntent":6,"bundleProductId":"all"}
      """#
    let renewal = try SignedRenewalInfo(payload: Data(payload.utf8))
    #expect(renewal.willUnbundle == true)
    #expect(renewal.expirationIntent == .unbundled)
    #expect(renewal.bundle?.productID == "all")
    #expect(renewal.unknownFields.isEmpty)
  }

  @Test(arguments: [ProductKind.subscriptionBundle, .subscriptionSuite, .autoRenewable])
  func `a period of a bundle is a period`(kind: ProductKind) throws {
    let text = Self.fields + #","type":"\#(kind.rawValue)""#
    let facts = SubscriptionFacts(transactions: [try Self.transaction(text)])
    let status = try #require(SubscriptionStatus.all(in: facts, at: Self.now + Self.day).first)
    #expect(status.state == .active)
    #expect(status.bundleProductID == "all")
  }

  @Test func `a subscription that a bundle has replaced is upgraded, and not refunded`() throws {
    let old = try Self.transaction(#","revocationDate":\#(Self.now + Self.day),"revocationReason":2"#)
    let facts = SubscriptionFacts(transactions: [old])
    let status = try #require(SubscriptionStatus.all(in: facts, at: Self.now + 2 * Self.day).first)
    #expect(status.state == .upgraded)
    #expect(status.endedAt == Self.now + Self.day)
    #expect(status.revokedTransactionIDs.isEmpty)
    let before = try #require(SubscriptionStatus.all(in: facts, at: Self.now + 1).first)
    #expect(before.isEntitled)
  }

  @Test func `a subscription says that it leaves its bundle, and why it ended`() throws {
    func status(_ renewal: String, days: Int64) throws -> SubscriptionStatus {
      let info = try SignedRenewalInfo(
        payload: Data(#"{"originalTransactionId":"1",\#(renewal)}"#.utf8))
      let facts = SubscriptionFacts(
        transactions: [try Self.transaction(Self.fields)], renewals: [info])
      return try #require(SubscriptionStatus.all(in: facts, at: Self.now + days * Self.day).first)
    }
    let leaving = try status(#""autoRenewStatus":1,"willUnbundle":true"#, days: 1)
    #expect(leaving.willUnbundle == true)
    #expect(leaving.isEntitled)
    let left = try status(#""autoRenewStatus":0,"expirationIntent":6"#, days: 31)
    #expect(left.state == .lapsed(.unbundled))
  }
}

import AppStoreDocuments
import AppStoreReceipts
import PurchaseSyncTesting
import Testing

/// Subscriptions in a device's receipts.
@Suite struct SubscriptionReceiptTests {
  private let start: Int64 = 1_704_164_645_000
  private let end: Int64 = 1_706_843_045_000

  private func purchase(_ id: String, change: (inout ForgedPurchase) -> Void = { _ in }) -> ForgedPurchase {
    var purchase = ForgedPurchase(transactionID: id, originalTransactionID: "1", productID: "p")
    purchase.purchaseDate = "2024-01-02T03:04:05Z"
    purchase.expiresDate = "2024-02-02T03:04:05Z"
    change(&purchase)
    return purchase
  }

  private func status(_ purchases: [ForgedPurchase], at now: Int64) throws -> SubscriptionStatus? {
    let receipt = try AppReceipt(
      decoding: ForgedAppReceipt(bundleID: "b", purchases: purchases).bytes(.ber(pieces: 2)))
    return SubscriptionStatus.all(in: SubscriptionFacts(receipt), at: now).first
  }

  @Test func `An app receipt states periods, refunds and trials`() throws {
    let paid = try #require(try status([purchase("2")], at: end - 1))
    #expect(paid.state == .active && paid.entitledUntil == end && paid.originalTransactionID == "1")
    #expect(paid.environment == .sandbox && paid.nextProductID == nil && paid.willAutoRenew == nil)
    #expect(try status([purchase("2")], at: end)?.state == .lapsed(nil))
    let refunded = purchase("2") { $0.cancellationDate = "2024-01-03T00:00:00Z" }
    #expect(try status([refunded], at: end - 1)?.state == .refunded)
    let trial = purchase("2") { $0.isTrialPeriod = true }
    #expect(try status([trial], at: start)?.isTrial == true)
    #expect(try status([purchase("2") { $0.expiresDate = "" }], at: start) == nil)
  }

  @Test func `Two periods with different products are a change of plan`() throws {
    let next = purchase("3") {
      $0.productID = "q"
      $0.purchaseDate = "2024-01-20T00:00:00Z"
      $0.expiresDate = "2024-02-20T00:00:00Z"
    }
    let changed = try #require(try status([next, purchase("2")], at: 1_705_708_800_000))
    #expect(changed.productID == "q" && changed.latestChange?.wasAtOnce == true)
    #expect(try status([next, purchase("2")], at: 1_705_708_799_999)?.productID == "p")
  }

  @Test func `An old transaction receipt states one period`() throws {
    var forged = ForgedTransactionReceipt(bundleID: "b", transactionID: "2", productID: "p", expires: end)
    forged["original-transaction-id"] = "1"
    forged["cancellation-date-ms"] = "\(end - 10)"
    forged["cancellation-reason"] = "1"
    forged["in-app-ownership-type"] = "FAMILY_SHARED"
    let receipt = try TransactionReceipt(decoding: forged.bytes())
    #expect(receipt.cancellationReason == .problemWithApp && receipt.ownership == .familyShared)
    let facts = SubscriptionFacts(receipt)
    #expect(facts.periods.map(\.originalTransactionID) == ["1"])
    #expect(SubscriptionStatus.all(in: facts, at: end - 11).map(\.state) == [.active])
    #expect(SubscriptionStatus.all(in: facts, at: end - 10).map(\.state) == [.revoked])
    let nameless = TransactionReceipt(transactionID: "2")
    #expect(SubscriptionFacts(nameless).periods.isEmpty)
  }

  @Test func `A reason that is not a number is kept unchanged`() throws {
    var forged = ForgedTransactionReceipt(bundleID: "b", transactionID: "2", productID: "p")
    forged["cancellation-reason"] = "later"
    let receipt = try TransactionReceipt(decoding: forged.bytes())
    #expect(receipt.cancellationReason == nil)
    #expect(receipt.unknownFields.contains(ReceiptField(key: "cancellation-reason", value: .text("later"))))
  }
}

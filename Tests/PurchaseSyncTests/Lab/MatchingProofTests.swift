import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The transaction of each kind of proof.
@Suite struct MatchingProofTests {
  private let forge = ReceiptForge(bundleID: "com.example.app")

  private func record(_ kind: StoreProduct.Kind = .consumable) -> StoreTransactionRecord {
    StoreTransactionRecord(
      transactionID: "200", originalTransactionID: "100", storeAccount: "apple", productID: "gold",
      kind: kind, quantity: 2, accountToken: orderToken(7), purchasedAt: midday.adding(milliseconds: 321),
      expiresAt: midday.adding(milliseconds: inDays(30)), environment: .sandbox,
      revokedAt: midday.adding(milliseconds: inDays(2)))
  }

  @Test func `a signed transaction has the values for matching`() throws {
    let jws = forge.signedTransaction(record(.autoRenewable), signedAt: midday)
    let transaction = try StoreTransaction(jws: jws, isVerified: false)
    #expect(transaction.key.rawValue == "Sandbox/200" && transaction.originalKey?.rawValue == "Sandbox/100")
    #expect(transaction.productKind == .autoRenewable && transaction.quantity == 2)
    #expect(transaction.accountToken == orderToken(7) && !transaction.isVerified)
    #expect(transaction.expiresAt == midday.adding(milliseconds: inDays(30)))
    #expect(transaction.revokedAt == midday.adding(milliseconds: inDays(2)))
    #expect(transaction.revocationReason == .other && transaction.isUpgraded == false)
    #expect(transaction.ownership == .purchased && transaction.signedAt == midday)
  }

  @Test func `the remaining values of a signed transaction are read`() throws {
    let payload = """
      {"transactionId":"2","originalTransactionId":"1","productId":"p","purchaseDate":1700000000000,
      "originalPurchaseDate":1690000000000,"webOrderLineItemId":"77","subscriptionGroupIdentifier":"g",
      "isUpgraded":true,"inAppOwnershipType":"FAMILY_SHARED","transactionReason":"RENEWAL","offerType":3,
      "offerIdentifier":"summer"}
      """
    let transaction = try StoreTransaction(jws: forge.sign(payload: payload))
    #expect(transaction.originalPurchasedAt == Timestamp(milliseconds: 1_690_000_000_000))
    #expect(transaction.webOrderLineItemID == "77" && transaction.subscriptionGroupID == "g")
    #expect(transaction.isUpgraded == true && transaction.ownership == .familyShared)
    #expect(transaction.reason == .renewal && transaction.offerType == .code)
    #expect(transaction.offerIdentifier == "summer" && transaction.accountToken == nil)
  }

  @Test(arguments: [
    (StoreProduct.Kind.consumable, ProductKind.consumable), (.nonConsumable, .nonConsumable),
    (.nonRenewing, .nonRenewing), (.autoRenewable, .autoRenewable),
  ])
  func `a transaction of an app receipt has no token, and the receipt as its proof`(
    kind: StoreProduct.Kind, expected: ProductKind
  ) throws {
    let bytes = forge.appReceipt(of: [record(kind)], createdAt: midday.adding(milliseconds: 5_000))
    let receipt = try AppReceipt(decoding: bytes)
    let transaction = try #require(try StoreTransaction.all(in: receipt, bytes: bytes).first)
    #expect(transaction.proof == Payload(kind: "appReceipt", bytes: bytes))
    #expect(transaction.key.rawValue == "Sandbox/200" && transaction.originalKey?.rawValue == "Sandbox/100")
    #expect(transaction.purchasedAt == midday && transaction.accountToken == nil)
    #expect(transaction.productKind == expected && transaction.quantity == 2)
    #expect(transaction.expiresAt == midday.adding(milliseconds: inDays(30)))
    #expect(transaction.revokedAt == midday.adding(milliseconds: inDays(2)))
    #expect(transaction.isUpgraded == nil && transaction.ownership == nil)
    #expect(transaction.signedAt == midday.adding(milliseconds: 5_000))
  }

  @Test func `two purchases of one receipt are two transactions (R4.4)`() throws {
    var purchase = InAppPurchase(transactionID: "1", productID: "gems")
    purchase.purchaseDate = midday.milliseconds
    purchase.promotionalOfferID = "winter"
    purchase.unknownAttributes.append(ReceiptAttribute(type: 1_722, value: [2, 1, 1]))
    var other = InAppPurchase(transactionID: "2", productID: "gems")
    other.purchaseDate = midday.milliseconds
    other.isTrialPeriod = true
    other.productType = 4
    var receipt = AppReceipt(bundleID: "com.example.app")
    receipt.inApp = [purchase, other]
    let transactions = try StoreTransaction.all(in: receipt, bytes: [1])
    #expect(transactions.map(\.key.rawValue) == ["Production/1", "Production/2"])
    #expect(transactions.map(\.ownership) == [.familyShared, nil])
    #expect(transactions.map(\.offerType) == [.promotional, .introductory])
    #expect(transactions[0].offerIdentifier == "winter" && transactions[1].productKind == nil)
  }

  @Test func `an old transaction receipt is its own proof`() throws {
    let bytes = forge.transactionReceipt(of: record())
    let transaction = try StoreTransaction(TransactionReceipt(decoding: bytes), bytes: bytes)
    #expect(transaction.proof == Payload(kind: "transactionReceipt", bytes: bytes))
    #expect(transaction.key.rawValue == "Sandbox/200" && transaction.productID == "gold")
    #expect(transaction.purchasedAt == midday.adding(milliseconds: 321) && transaction.quantity == 2)
    #expect(transaction.expiresAt == midday.adding(milliseconds: inDays(30)))
    #expect(transaction.webOrderLineItemID != nil && transaction.accountToken == nil)
  }

  @Test func `a receipt without product or date of purchase is refused`() {
    let receipt = AppReceipt(bundleID: "com.example.app")
    let undated = InAppPurchase(transactionID: "1", productID: "gems")
    #expect(throws: ReceiptDecodingError.self) { try StoreTransaction(undated, in: receipt, bytes: []) }
    var old = TransactionReceipt(transactionID: "1")
    #expect(throws: ReceiptDecodingError.self) { try StoreTransaction(old, bytes: []) }
    old.productID = "gems"
    #expect(throws: ReceiptDecodingError.self) { try StoreTransaction(old, bytes: []) }
  }

  @Test func `both interfaces give a transaction the same key, even if ids restart`() {
    var signed = payment("0", at: 987) { $0.environment = .xcode }
    let received = payment("0") { $0.environment = .xcode }
    #expect(signed.key == received.key && signed.key.rawValue == "Xcode/0@1700000000000")
    #expect(payment("0", at: 1_000) { $0.environment = .xcode }.key != received.key)
    signed.transactionID = "1"
    #expect(signed.originalKey == nil)
    signed.originalPurchasedAt = midday
    #expect(signed.originalKey == received.key)
  }
}

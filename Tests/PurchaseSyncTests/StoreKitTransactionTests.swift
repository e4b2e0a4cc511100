import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting
import Testing

/// What StoreKit says of a transaction becomes a transaction of ours: always, and the same one each time.
@Suite struct StoreKitTransactionTests {
  private static let token = UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF")
  private let forge = ReceiptForge(bundleID: "com.example")

  private func told(_ jws: String, isVerified: Bool = true) -> StoreKitTransaction {
    StoreKitTransaction(
      jws: jws, isVerified: isVerified, id: 2_000_000_000_000_001, originalID: 2_000_000_000_000_000,
      productID: "gems", quantity: 3, purchaseDate: Date(timeIntervalSince1970: 1_697_679_936.049),
      accountToken: Self.token, environment: "Sandbox")
  }

  private func payload(_ changes: [String: String] = [:]) -> String {
    var fields = [
      "transactionId": "\"2000000000000001\"", "originalTransactionId": "\"2000000000000000\"",
      "productId": "\"gems\"", "quantity": "3", "purchaseDate": "1697679936049", "environment": "\"Sandbox\"",
      "appAccountToken": "\"01234567-89ab-cdef-0123-456789abcdef\"",
    ]
    fields.merge(changes) { _, new in new }
    return "{" + fields.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
      + "}"
  }

  private func expectWhole(_ transaction: StoreTransaction, _ jws: String, isVerified: Bool = true) {
    #expect(transaction.environment == .sandbox)
    #expect(transaction.transactionID == "2000000000000001")
    #expect(transaction.originalTransactionID == "2000000000000000")
    #expect(transaction.productID == "gems")
    #expect(transaction.quantity == 3)
    #expect(transaction.purchasedAt == Timestamp(milliseconds: 1_697_679_936_049))
    #expect(transaction.accountToken == Self.token)
    #expect(transaction.proof == Proof(kind: "signedTransaction", bytes: Array(jws.utf8)))
    #expect(transaction.isVerified == isVerified)
  }

  @Test(arguments: [true, false])
  func `a payload that can be read says what StoreKit says, and StoreKit's word on the signature is kept`(
    isVerified: Bool
  ) {
    let jws = forge.sign(payload: payload())
    expectWhole(StoreTransaction(told(jws, isVerified: isVerified)), jws, isVerified: isVerified)
  }

  @Test(arguments: ["", "not.a.jws", "e30.e30.", "\u{0}", "{}"])
  func `a payload that cannot be read loses nothing, and goes up as it is`(jws: String) {
    expectWhole(StoreTransaction(told(jws, isVerified: false)), jws, isVerified: false)
  }

  @Test func `a field of a form that this version does not know loses nothing`() {
    let jws = forge.sign(payload: payload(["purchaseDate": "{\"seconds\":1}"]))
    expectWhole(StoreTransaction(told(jws)), jws)
  }

  @Test func `a payload about another transaction does not change which one is finished`() {
    let jws = forge.sign(payload: payload(["transactionId": "\"7\"", "productId": "\"all-gems\""]))
    expectWhole(StoreTransaction(told(jws)), jws)
  }

  @Test func `where ids restart, the key is that of the bare JWS, whose date has a fraction`() throws {
    let jws = forge.sign(
      payload: payload([
        "transactionId": "\"0\"", "environment": "\"Xcode\"", "purchaseDate": "1697679936049.7297",
      ]))
    var told = told(jws)
    told.id = 0
    told.environment = "Xcode"
    told.purchaseDate = Date(timeIntervalSince1970: 1_697_679_936.049_729_7)
    let bare = try StoreTransaction(jws: jws)
    #expect(StoreTransaction(told).key == bare.key)
    #expect(bare.key.rawValue == "Xcode/0@1697679936000")
  }

  @Test(arguments: [0, 1, 49, 500, 999] as [Int64])
  func `a date that went through seconds is the millisecond it was`(fraction: Int64) {
    for day in stride(from: Int64(0), to: 40_000, by: 37) {
      let milliseconds = day * 86_400_000 + fraction
      var told = told("unreadable")
      told.purchaseDate = Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
      #expect(StoreTransaction(told).purchasedAt.milliseconds == milliseconds)
    }
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300])
  func `a date that is none is no crash`(seconds: Double) {
    var told = told("unreadable")
    told.purchaseDate = Date(timeIntervalSince1970: seconds)
    #expect(StoreTransaction(told).purchasedAt.milliseconds == 0)
  }

  @Test func `a listing is oldest first, and by number where the moment is the same`() {
    func transaction(_ id: UInt64, at seconds: Double) -> StoreTransaction {
      var told = told("unreadable")
      told.id = id
      told.purchaseDate = Date(timeIntervalSince1970: seconds)
      return StoreTransaction(told)
    }
    let sorted = [
      transaction(1, at: 9), transaction(10, at: 5), transaction(9, at: 5), transaction(11, at: 5),
    ].oldestFirst
    #expect(sorted.map(\.transactionID) == ["9", "10", "11", "1"])
  }
}

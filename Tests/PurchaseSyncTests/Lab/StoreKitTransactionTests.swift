import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting
import Testing

/// A StoreKit transaction always becomes a `StoreTransaction`, and the same one each time.
@Suite struct StoreKitTransactionTests {
  private static let token = UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF")
  private let forge = ReceiptForge(bundleID: "com.example")

  private func values(_ jws: String, isVerified: Bool = true) -> StoreKitTransaction {
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
    #expect(transaction.proof == Payload(kind: "signedTransaction", bytes: Array(jws.utf8)))
    #expect(transaction.isVerified == isVerified)
  }

  @Test(arguments: [true, false])
  func `a readable payload gives StoreKit's values, and StoreKit's signature check is kept`(
    isVerified: Bool
  ) {
    let jws = forge.sign(payload: payload())
    expectWhole(StoreTransaction(values(jws, isVerified: isVerified)), jws, isVerified: isVerified)
  }

  @Test(arguments: ["", "not.a.jws", "e30.e30.", "\u{0}", "{}"])
  func `an unreadable payload loses nothing and is uploaded unchanged`(jws: String) {
    expectWhole(StoreTransaction(values(jws, isVerified: false)), jws, isVerified: false)
  }

  @Test func `a field of an unknown form loses nothing`() {
    let jws = forge.sign(payload: payload(["purchaseDate": "{\"seconds\":1}"]))
    expectWhole(StoreTransaction(values(jws)), jws)
  }

  @Test func `a payload of another transaction does not change the finished transaction`() {
    let jws = forge.sign(payload: payload(["transactionId": "\"7\"", "productId": "\"all-gems\""]))
    expectWhole(StoreTransaction(values(jws)), jws)
  }

  @Test func `if ids restart, the key equals that of the bare JWS, whose date has a fraction`() throws {
    let jws = forge.sign(
      payload: payload([
        "transactionId": "\"0\"", "environment": "\"Xcode\"", "purchaseDate": "1697679936049.7297",
      ]))
    var values = values(jws)
    values.id = 0
    values.environment = "Xcode"
    values.purchaseDate = Date(timeIntervalSince1970: 1_697_679_936.049_729_7)
    let bare = try StoreTransaction(jws: jws)
    #expect(StoreTransaction(values).key == bare.key)
    #expect(bare.key.rawValue == "Xcode/0@1697679936000")
  }

  @Test(arguments: [0, 1, 49, 500, 999] as [Int64])
  func `a date converted through seconds keeps its millisecond`(fraction: Int64) {
    for day in stride(from: Int64(0), to: 40_000, by: 37) {
      let milliseconds = day * 86_400_000 + fraction
      var values = values("unreadable")
      values.purchaseDate = Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
      #expect(StoreTransaction(values).purchasedAt.milliseconds == milliseconds)
    }
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300])
  func `an invalid date does not crash`(seconds: Double) {
    var values = values("unreadable")
    values.purchaseDate = Date(timeIntervalSince1970: seconds)
    #expect(StoreTransaction(values).purchasedAt.milliseconds == 0)
  }

  @Test func `a listing is sorted oldest first, then by number`() {
    func transaction(_ id: UInt64, at seconds: Double) -> StoreTransaction {
      var values = values("unreadable")
      values.id = id
      values.purchaseDate = Date(timeIntervalSince1970: seconds)
      return StoreTransaction(values)
    }
    let sorted = [
      transaction(1, at: 9), transaction(10, at: 5), transaction(9, at: 5), transaction(11, at: 5),
    ].oldestFirst
    #expect(sorted.map(\.transactionID) == ["9", "10", "11", "1"])
  }

  /// Moments, and the milliseconds in their keys.
  private static let moments: [(Int64, Int64)] = [
    (.min, .min), (.min + 1_000, -9_223_372_036_854_775_000), (-1, -1_000), (-1_000, -1_000), (0, 0),
    (999, 0), (.max, 9_223_372_036_854_775_000),
  ]

  @Test(arguments: moments)
  func `a date at either end of 64 bits has a key, without its fraction of a second`(
    milliseconds: Int64, named: Int64
  ) {
    let transaction = StoreTransaction(
      environment: .xcode, transactionID: "1", originalTransactionID: "1", productID: "gems", quantity: 1,
      purchasedAt: Timestamp(milliseconds: milliseconds), accountToken: nil,
      proof: Payload(kind: "signedTransaction", bytes: [65]))
    #expect(transaction.key == EntryKey(rawValue: "Xcode/1@\(named)"))
  }
}

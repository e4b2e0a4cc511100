import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// A store with a group of plans, and a clock that a test sets.
struct Shop {
  static let products =
    Sample.products + [
      plan("gold", level: 1, days: 30, price: 9_000), plan("gold.alike", level: 1, days: 30, price: 9_000),
      plan("gold.yearly", level: 1, days: 365, price: 90_000),
      plan("silver", level: 2, days: 30, price: 6_000),
      plan("bronze", level: 3, days: 7, price: 1_000), StoreProduct(id: "pass", kind: .nonRenewing), shared,
    ]

  private static var shared: StoreProduct {
    var product = StoreProduct(id: "album", kind: .nonConsumable)
    product.isFamilyShareable = true
    return product
  }

  private static func plan(_ id: String, level: Int, days: Int64, price: Int64) -> StoreProduct {
    var product = StoreProduct(
      subscription: id, groupID: "vip", level: level, period: .milliseconds(days * Sample.day), price: price,
      gracePeriod: .milliseconds(id == "gold" ? 16 * Sample.day : 0),
      trial: id == "silver" ? .milliseconds(7 * Sample.day) : nil)
    product.isFamilyShareable = id == "gold"
    return product
  }

  var store: StoreModel
  var now = Sample.now

  init(_ environment: StoreEnvironment = .production, pace: StorePace = .real) {
    store = StoreModel(products: Self.products, forge: Sample.forge, environment: environment, pace: pace)
  }

  mutating func wait(days: Int64) { now = now.adding(milliseconds: days * Sample.day) }

  @discardableResult
  mutating func buy(_ product: String, as storeAccount: String = "a", token: UUID? = nil) throws
    -> StoreTransactionRecord
  {
    try store.buy(product, as: storeAccount, token: token, at: now)
  }

  /// The old receipt of one transaction as the store issues it now, in base64.
  mutating func oldReceipt(of record: StoreTransactionRecord) throws -> String {
    try store.proof(.transactionReceipt, of: record).data
  }

  /// The app receipt on the device, in base64.
  mutating func appReceipt(of storeAccount: String = "a") throws -> String {
    let bytes = store.receipt(storeAccount: storeAccount, now: now)
    return Data(try #require(bytes)).base64EncodedString()
  }

  /// The store's answer. Each of its fields has to be readable.
  mutating func ask(
    _ receipt: String, password: String? = nil, excludesOld: Bool? = nil, host: StoreEnvironment? = nil,
    _ location: SourceLocation = #_sourceLocation
  ) throws -> VerifyReceiptResponse {
    let request = VerifyReceiptRequest(
      receiptData: receipt, password: password.map(SharedSecret.init), excludesOldTransactions: excludesOld)
    let answer = store.verifyReceipt(body: request.json, host: host ?? store.environment, now: now)
    let response = try VerifyReceiptResponse(json: answer.data)
    let unknown =
      [response.unknownFields] + response.transactions.map(\.unknownFields)
      + response.pendingRenewals.map(\.unknownFields)
    #expect(unknown.allSatisfy { $0.isEmpty }, sourceLocation: location)
    return response
  }

  /// The status of the account's only subscription, according to the store's answer about the app receipt.
  mutating func status(of storeAccount: String = "a") throws -> SubscriptionStatus {
    let response = try ask(try appReceipt(of: storeAccount))
    #expect(response.status == .ok)
    let all = SubscriptionStatus.all(in: SubscriptionFacts(response), at: now.milliseconds)
    #expect(all.count == 1)
    return try #require(all.first)
  }
}

/// The error of the App Store Server API that the body throws; nil if it throws none, or another one.
func apiError(_ body: () throws -> Void) -> ServerAPIError? {
  do {
    try body()
    return nil
  } catch {
    return error as? ServerAPIError
  }
}

import AppStoreReceipts
import Foundation
import PurchaseQueue
import Testing

@testable import PurchaseSyncTesting

struct StoreModelTests {
  @Test func `an unfinished transaction is delivered in order of purchase until it is finished`() throws {
    var store = Sample.store()
    let ids = try (0..<3).map { _ in
      try store.pay(product: "coins", quantity: 1, accountToken: nil, storeAccount: "a", now: Sample.now)
        .transactionID
    }
    #expect(ids.first == "2000000000000001")
    #expect(store.unfinished(storeAccount: "a").map(\.transactionID) == ids)
    try store.finish(transactionID: ids[1])
    try store.finish(transactionID: ids[1])
    #expect(store.unfinished(storeAccount: "a").map(\.transactionID) == [ids[0], ids[2]])
    #expect(store.unfinished(storeAccount: "b").isEmpty)
    #expect(store.charges.map(\.transactionID) == ids)
  }

  @Test func `a refund keeps the transaction in the charges and among the unfinished`() throws {
    var store = Sample.store()
    let paid = try store.pay(
      product: "coins", quantity: 2, accountToken: nil, storeAccount: "a", now: Sample.now)
    let later = Sample.now.adding(milliseconds: 5)
    try store.refund(transactionID: paid.transactionID, now: later)
    try store.refund(transactionID: paid.transactionID, now: later.adding(milliseconds: 5))
    #expect(store.transaction(paid.transactionID)?.revokedAt == later)
    #expect(store.unfinished(storeAccount: "a").count == 1)
    let signed = try store.signedTransaction(for: paid.transactionID, now: later)
    #expect(try SignedTransaction(jws: signed).revocationDate == later.milliseconds)
  }

  @Test func `the owner of a non-consumable is not charged again`() throws {
    var store = Sample.store()
    let first = try store.pay(
      product: "pro", quantity: 1, accountToken: nil, storeAccount: "a", now: Sample.now)
    let again = try store.pay(
      product: "pro", quantity: 1, accountToken: UUID(), storeAccount: "a", now: Sample.now)
    #expect(again == first)
    #expect(store.charges.count == 1)
    _ = try store.pay(product: "pro", quantity: 1, accountToken: nil, storeAccount: "b", now: Sample.now)
    #expect(store.charges.count == 2)
  }

  @Test(arguments: [
    ("coins", 0), ("coins", 11), ("coins", -1), ("coins", Int.max), ("pro", 2), ("monthly", 2),
  ])
  func `a quantity that the store does not sell is refused and not charged`(product: String, quantity: Int) {
    var store = Sample.store()
    #expect(throws: StoreModelError.invalidQuantity(quantity, productID: product)) {
      try store.pay(
        product: product, quantity: quantity, accountToken: nil, storeAccount: "a", now: Sample.now)
    }
    #expect(store.charges.isEmpty)
  }

  @Test func `unknown products, accounts and transactions are refused`() {
    var store = Sample.store()
    #expect(throws: StoreModelError.unknownProduct("x")) {
      try store.pay(product: "x", quantity: 1, accountToken: nil, storeAccount: "a", now: Sample.now)
    }
    #expect(throws: StoreModelError.noStoreAccount) {
      try store.pay(product: "coins", quantity: 1, accountToken: nil, storeAccount: "", now: Sample.now)
    }
    #expect(throws: StoreModelError.unknownTransaction("9")) { try store.finish(transactionID: "9") }
    #expect(throws: StoreModelError.unknownTransaction("9")) {
      try store.refund(transactionID: "9", now: Sample.now)
    }
    #expect(throws: StoreModelError.unknownTransaction("9")) {
      try store.signedTransaction(for: "9", now: Sample.now)
    }
  }
}

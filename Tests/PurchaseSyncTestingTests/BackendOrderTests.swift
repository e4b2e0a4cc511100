import Foundation
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

struct BackendOrderTests {
  @Test func `a repeated request under one idempotency key is the same order`() throws {
    var model = BackendModel(bundleID: Sample.bundleID, seed: 1)
    let request = OrderRequest(productID: "coins", quantity: 1)
    let first = try model.createOrder(request, account: "a", idempotencyKey: "k", now: Sample.now)
    let later = Sample.now.adding(milliseconds: 1)
    let again = try model.createOrder(request, account: "a", idempotencyKey: "k", now: later)
    #expect(first.isNew && !again.isNew)
    #expect(first.order == again.order)
    #expect(again.writes.isEmpty)
    #expect(model.orders.count == 1)
  }

  @Test func `another request under the same key is a conflict, of another account it is not`() throws {
    var model = BackendModel(bundleID: Sample.bundleID, seed: 1)
    let one = OrderRequest(productID: "coins", quantity: 1)
    let two = OrderRequest(productID: "coins", quantity: 2)
    let first = try model.createOrder(one, account: "a", idempotencyKey: "k", now: Sample.now)
    #expect(throws: BackendModelError.idempotencyConflict) {
      try model.createOrder(two, account: "a", idempotencyKey: "k", now: Sample.now)
    }
    let other = try model.createOrder(two, account: "b", idempotencyKey: "k", now: Sample.now)
    #expect(other.order.accountToken != first.order.accountToken)
    #expect(other.order.number != first.order.number)
  }

  @Test(arguments: ["", " ", "\n\t"])
  func `a blank product is refused`(product: String) {
    var model = BackendModel(bundleID: Sample.bundleID, seed: 1)
    #expect(throws: BackendModelError.blankProduct) {
      try model.createOrder(
        OrderRequest(productID: product, quantity: 1), account: "a", idempotencyKey: "k", now: Sample.now)
    }
  }

  @Test(arguments: [0, -1, Int.min])
  func `a quantity below one is refused`(quantity: Int) {
    var model = BackendModel(bundleID: Sample.bundleID, seed: 1)
    #expect(throws: BackendModelError.invalidQuantity(quantity)) {
      try model.createOrder(
        OrderRequest(productID: "coins", quantity: quantity), account: "a", idempotencyKey: "k",
        now: Sample.now)
    }
  }

  @Test func `the same seed gives the same tokens, and no token twice`() throws {
    func tokens(seed: UInt64) throws -> [UUID] {
      var model = BackendModel(bundleID: Sample.bundleID, seed: seed)
      return try (0..<200).map {
        let request = OrderRequest(productID: "coins", quantity: 1)
        return try model.createOrder(request, account: "a", idempotencyKey: "\($0)", now: Sample.now).order
          .accountToken
      }
    }
    #expect(try tokens(seed: 5) == tokens(seed: 5))
    #expect(try Set(tokens(seed: 5) + tokens(seed: 6)).count == 400)
  }
}

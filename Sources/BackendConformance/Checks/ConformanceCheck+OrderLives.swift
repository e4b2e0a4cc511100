import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let read = ConformanceSource.openAPI("GET", "/v1/orders/{number}", 200)
  private static let list = ConformanceSource.openAPI("GET", "/v1/orders", 200)
  private static let cancelled = ConformanceSource.openAPI("POST", "/v1/orders/{number}/cancel", 200)

  /// Reading, registering and ending orders.
  static let orderLives: [ConformanceCheck] = [
    ConformanceCheck("order-read", "an order is read as it was made", read, needs: [.product]) { lab in
      let order = try await lab.order(quantity: 3)
      let product = try await lab.productID()
      let json = try await lab.send("GET", ConformanceLab.path(of: order.number)).json
      try expect(json?["number"]?.string == order.number, "its number")
      try expect(
        json?["accountToken"]?.string?.lowercased() == order.token.lowercased(), "its accountToken")
      try expect(json?["productID"]?.string == product && json?["quantity"] == 3, "its product and quantity")
      try expect(json?["state"]?.string == "open", "the state open")
    },
    ConformanceCheck("order-listed", "open orders are listed", list, needs: [.product]) { lab in
      let order = try await lab.order()
      let listed = try await lab.listedItems("state=open")
      try expect(
        listed.contains { $0["number"]?.string == order.number },
        "the order in the list, or on its further pages")
    },
    ConformanceCheck(
      "order-pages", "a page has at most `limit` orders, and `next` leads to the others", list,
      needs: [.product]
    ) { lab in
      for _ in 0..<3 { _ = try await lab.order() }
      let first = try await lab.send("GET", "v1/orders?limit=2")
      let numbers = (first.json?["orders"]?.array ?? []).compactMap { $0["number"]?.string }
      try expect(numbers.count == 2, "2 orders")
      guard let next = first.json?["next"]?.string else { throw ConformanceFailure("a next") }
      let second = try await lab.send("GET", "v1/orders?limit=2&after=" + ConformanceLab.escaped(next))
      let later = (second.json?["orders"]?.array ?? []).compactMap { $0["number"]?.string }
      try expect(!later.isEmpty, "orders on the second page")
      try expect(Set(later).isDisjoint(with: numbers), "other orders than on the first page")
    },
    ConformanceCheck(
      "order-unknown", "an unknown order number is answered 404",
      .openAPI("GET", "/v1/orders/{number}", 404), needs: []
    ) { lab in
      let reply = try await lab.send("GET", "v1/orders/\(await lab.unique("no-such"))")
      try expect(reply.status == 404, "404")
    },
    ConformanceCheck(
      "order-ended", "an order can be deferred, and cancelled twice", cancelled, needs: [.product]
    ) { lab in
      let other = try await lab.order()
      let order = try await lab.order()
      for (action, state) in [("defer", "deferred"), ("cancel", "cancelled"), ("cancel", "cancelled")] {
        let reply = try await lab.send("POST", ConformanceLab.path(of: order.number, action))
        try expect(reply.status == 200, "200 for \(action)")
        try expect(reply.json?["state"]?.string == state, "the state \(state)")
      }
      let state = try await lab.state(of: order.number)
      try expect(state == "cancelled", "the state cancelled, when it is read")
      let untouched = try await lab.state(of: other.number)
      try expect(untouched != "cancelled" && untouched != "deferred", "the other order as it was made")
    },
    ConformanceCheck(
      "order-paid-late", "a cancelled order still takes the payment with its token", cancelled
    ) { lab in
      let order = try await lab.order()
      _ = try await lab.send("POST", ConformanceLab.path(of: order.number, "cancel"))
      let before = try await lab.held(by: .alice)
      let paid = try await lab.pay(token: order.token, storeAccount: lab.unique("apple"))
      let word = try await lab.settled(paid, order: order.number)
      try expect(word == "granted", "granted")
      let after = try await lab.held(by: .alice)
      try expect(after == before + 1, "one more of it: \(before + 1)")
    },
    ConformanceCheck(
      "order-stays-delivered", "a delivered order does not change when it is cancelled late", cancelled
    ) { lab in
      let (order, _) = try await lab.grantedOrder()
      _ = try await lab.send("POST", ConformanceLab.path(of: order.number, "cancel"))
      let state = try await lab.state(of: order.number)
      try expect(state == "delivered", "the state delivered")
    },
    ConformanceCheck(
      "order-registered", "an order that a device made is registered once",
      .openAPI("PUT", "/v1/orders/{number}", 201), needs: [.product, .accounts]
    ) { lab in
      let number = "device-" + UUID().uuidString
      let order = try await lab.deviceOrder(number)
      let first = try await lab.send("PUT", ConformanceLab.path(of: number), json: order)
      try expect(first.status == 201, "201")
      let second = try await lab.send("PUT", ConformanceLab.path(of: number), json: order)
      try expect(second.status == 200, "200 for the second time")
      let other = try await lab.send(
        "PUT", ConformanceLab.path(of: number), json: ConformanceLab.with(order, "quantity", 2))
      try expect(other.isRefusal, "a 4xx for other contents under the same number")
      let read = try await lab.send("GET", ConformanceLab.path(of: number))
      try expect(read.json?["quantity"] == 1, "the quantity of the first registration")
    },
    ConformanceCheck(
      "order-registered-paid", "a payment with the token of a device's order goes to its account",
      .openAPI("PUT", "/v1/orders/{number}", 201), needs: [.store, .accounts]
    ) { lab in
      let number = "device-" + UUID().uuidString
      let order = try await lab.deviceOrder(number)
      _ = try await lab.send("PUT", ConformanceLab.path(of: number), json: order)
      let before = try await lab.held(by: .alice)
      let paid = try await lab.pay(token: order["accountToken"]?.string, storeAccount: lab.unique("apple"))
      let word = try await lab.settled(paid, order: number)
      try expect(word == "granted", "granted")
      let after = try await lab.held(by: .alice)
      try expect(after == before + 1, "one more of it: \(before + 1)")
    },
  ]
}

extension ConformanceLab {
  /// An order as a device makes it for the first account, or in the name of the other one.
  func deviceOrder(_ number: String, ofOther: Bool = false) async throws -> JSONValue {
    guard let accounts = site.accounts else { throw ConformanceFailure("the names of the accounts") }
    return [
      "number": .string(number), "accountToken": .string(UUID().uuidString),
      "account": .string(ofOther ? accounts.bob : accounts.alice),
      "productID": .string(try await productID()), "quantity": 1, "state": "open",
      "createdAt": .integer(Self.now),
    ]
  }
}

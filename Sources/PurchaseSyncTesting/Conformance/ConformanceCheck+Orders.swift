import AppStoreReceipts
import Foundation

extension ConformanceCheck {
  /// Making, listing and reading orders.
  static let orders = [
    ConformanceCheck(name: "order-made", promise: "an order has a number, a token, and is open") { lab in
      let product = try await lab.productID()
      let reply = try await lab.send(
        "POST", "v1/orders", headers: ["Idempotency-Key": lab.unique("key")],
        json: ["productID": .string(product), "quantity": 2])
      try expect(reply.status == 201, "201")
      try expect(reply.json?["number"]?.string?.isEmpty == false, "a number")
      try expect(UUID(uuidString: reply.json?["accountToken"]?.string ?? "") != nil, "a UUID as accountToken")
      try expect(reply.json?["productID"]?.string == product, "the productID of the request")
      try expect(reply.json?["quantity"] == 2, "the quantity of the request")
      try expect(reply.json?["state"]?.string == "open", "the state open")
      guard case .integer? = reply.json?["createdAt"] else {
        throw ConformanceFailure("an integer createdAt")
      }
    },
    ConformanceCheck(name: "order-idempotent", promise: "a repeated idempotency key returns the same order") {
      lab in
      let key = await lab.unique("key")
      let first = try await lab.order(key: key)
      let second = try await lab.order(key: key)
      try expect(first.number == second.number && first.token == second.token, "the same number and token")
    },
    ConformanceCheck(name: "order-key-per-account", promise: "two accounts may use the same idempotency key")
    { lab in
      let key = await lab.unique("key")
      let first = try await lab.order(key: key)
      let second = try await lab.order(as: .bob, key: key)
      try expect(first.number != second.number && first.token != second.token, "another number and token")
    },
    ConformanceCheck(name: "order-key-reused", promise: "an idempotency key is refused for a different order")
    { lab in
      let key = await lab.unique("key")
      _ = try await lab.order(key: key)
      let product = try await lab.productID()
      let reply = try await lab.send(
        "POST", "v1/orders", headers: ["Idempotency-Key": key],
        json: ["productID": .string(product), "quantity": 7])
      try expect((400..<500).contains(reply.status), "a 4xx")
    },
    ConformanceCheck(name: "order-listed", promise: "open orders are listed") { lab in
      let order = try await lab.order()
      let reply = try await lab.send("GET", "v1/orders?state=open")
      let numbers = (reply.json?["orders"]?.array ?? []).compactMap { $0["number"]?.string }
      try expect(numbers.contains(order.number), "the order among them")
    },
    ConformanceCheck(name: "order-private", promise: "another account's order cannot be read") { lab in
      let order = try await lab.order()
      let own = try await lab.send("GET", "v1/orders/\(order.number)")
      try expect(own.status == 200, "200 for its owner")
      let reply = try await lab.send("GET", "v1/orders/\(order.number)", as: .bob)
      try expect(reply.status == 403 || reply.status == 404, "403")
    },
    ConformanceCheck(name: "order-unknown", promise: "an unknown order number is answered 404") { lab in
      let reply = try await lab.send("GET", "v1/orders/\(await lab.unique("no-such"))")
      try expect(reply.status == 404, "404")
    },
    ConformanceCheck(name: "order-ended", promise: "an order can be deferred, and cancelled twice") { lab in
      let order = try await lab.order()
      for (action, state) in [("defer", "deferred"), ("cancel", "cancelled"), ("cancel", "cancelled")] {
        let reply = try await lab.send("POST", "v1/orders/\(order.number)/\(action)")
        try expect(reply.status == 200, "200 for \(action)")
        try expect(reply.json?["state"]?.string == state, "the state \(state)")
      }
      let reply = try await lab.send("POST", "v1/orders/\(order.number)/cancel", as: .bob)
      try expect(reply.status == 403 || reply.status == 404, "403 for another account")
    },
    ConformanceCheck(name: "unknown-members", promise: "unknown JSON members are ignored") { lab in
      let product = try await lab.productID()
      let reply = try await lab.send(
        "POST", "v1/orders", headers: ["Idempotency-Key": lab.unique("key")],
        json: ["productID": .string(product), "quantity": 1, "fromTheFuture": ["a": 1]])
      try expect(reply.status == 201, "201")
    },
  ]
}

import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let made = ConformanceSource.openAPI("POST", "/v1/orders", 201)
  private static let again = ConformanceSource.openAPI("POST", "/v1/orders", 200)
  private static let keys = ConformanceSource.yourBackend("Idempotency, and how long")

  /// Making orders.
  static let orders: [ConformanceCheck] = [
    ConformanceCheck("order-made", "an order has a number, a token, and is open", made, needs: [.product]) {
      lab in
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
    ConformanceCheck(
      "order-unique", "each order has a number of its own, and no token of another account", made,
      needs: [.product]
    ) { lab in
      let first = try await lab.order()
      let second = try await lab.order()
      let bobs = try await lab.order(as: .bob)
      try expect(Set([first, second, bobs].map(\.number)).count == 3, "another number")
      try expect(
        first.token.lowercased() != bobs.token.lowercased(), "another accountToken for another account")
      try expect(
        second.token.lowercased() != bobs.token.lowercased(), "another accountToken for another account")
    },
    ConformanceCheck(
      "order-idempotent", "a repeated idempotency key returns the same order", again, needs: [.product]
    ) { lab in
      let key = await lab.unique("key")
      let first = try await lab.order(key: key)
      let second = try await lab.order(key: key)
      try expect(first.number == second.number && first.token == second.token, "the same number and token")
    },
    ConformanceCheck(
      "order-key-per-account", "two accounts may use the same idempotency key", keys, needs: [.product]
    ) { lab in
      let key = await lab.unique("key")
      let first = try await lab.order(key: key)
      let second = try await lab.order(as: .bob, key: key)
      try expect(first.number != second.number && first.token != second.token, "another number and token")
    },
    ConformanceCheck(
      "order-key-reused", "an idempotency key is refused for a different order", keys, needs: [.product]
    ) { lab in
      let key = await lab.unique("key")
      _ = try await lab.order(key: key)
      let product = try await lab.productID()
      let reply = try await lab.send(
        "POST", "v1/orders", headers: ["Idempotency-Key": key],
        json: ["productID": .string(product), "quantity": 7])
      try expect(reply.isRefusal, "a 4xx")
    },
    ConformanceCheck(
      "order-key-needed", "an order without an idempotency key is refused",
      .openAPI("POST", "/v1/orders", 400), needs: [.product]
    ) { lab in
      let product = try await lab.productID()
      let reply = try await lab.send(
        "POST", "v1/orders", json: ["productID": .string(product), "quantity": 1])
      try expect(reply.isRefusal, "a 4xx")
    },
    ConformanceCheck(
      "order-product", "an order for a product that is not sold is refused",
      .openAPI("POST", "/v1/orders", 422), needs: []
    ) { lab in
      let reply = try await lab.send(
        "POST", "v1/orders", headers: ["Idempotency-Key": lab.unique("key")],
        json: ["productID": .string(await lab.unique("not.sold")), "quantity": 1])
      try expect(reply.isRefusal, "a 4xx")
    },
    ConformanceCheck(
      "order-unknown-members", "unknown JSON members of an order are ignored", made, needs: [.product]
    ) { lab in
      let product = try await lab.productID()
      let reply = try await lab.send(
        "POST", "v1/orders", headers: ["Idempotency-Key": lab.unique("key")],
        json: ["productID": .string(product), "quantity": 1, "fromTheFuture": ["a": 1]])
      try expect(reply.status == 201, "201")
    },
    ConformanceCheck(
      "order-type", "an answer with a body is application/json", made, needs: [.product]
    ) { lab in
      let order = try await lab.order()
      for path in [ConformanceLab.path(of: order.number), "v1/orders?state=open&limit=1", "v1/entitlements"] {
        let reply = try await lab.send("GET", path)
        let type = reply.contentType?.split(separator: ";").first.map(String.init) ?? ""
        try expect(reply.status == 200, "200")
        try expect(type.lowercased() == "application/json", "the type application/json")
      }
    },
  ]
}

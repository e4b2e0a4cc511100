import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let keys = ConformanceSource.yourBackend("Idempotency, and how long")
  private static let again = ConformanceSource.openAPI("POST", "/v1/orders", 200)
  private static let invalid = ConformanceSource.openAPI("POST", "/v1/orders", 422)
  private static let registered = ConformanceSource.openAPI("PUT", "/v1/orders/{number}", 200)
  private static let conflict = ConformanceSource.openAPI("PUT", "/v1/orders/{number}", 409)

  /// Keys, and what an order may be for.
  static let orderKeys: [ConformanceCheck] = [
    ConformanceCheck(
      "order-key-product", "an idempotency key is refused for another product", keys
    ) { lab in
      let (key, other) = (await lab.unique("key"), try await lab.otherProductID())
      _ = try await lab.order(key: key)
      let reply = try await lab.makeOrder(key: key, ["productID": .string(other), "quantity": 1])
      try expect(reply.isRefusal, "a 4xx")
    },
    ConformanceCheck(
      "order-key-status", "a repeated request for an order is answered 200 with the same order", again,
      needs: [.product]
    ) { lab in
      let key = await lab.unique("key")
      let product = try await lab.productID()
      let first = try await lab.makeOrder(key: key, ["productID": .string(product), "quantity": 1])
      let second = try await lab.makeOrder(key: key, ["productID": .string(product), "quantity": 1])
      try expect(first.status == 201 && second.status == 200, "201, then 200")
      try expect(first.json?["createdAt"] == second.json?["createdAt"], "the same createdAt")
    },
    ConformanceCheck("order-key-paid", "the key of an order that was paid returns it still", again) { lab in
      let key = await lab.unique("key")
      let order = try await lab.order(key: key)
      let paid = try await lab.pay(token: order.token, storeAccount: lab.unique("apple"))
      try await lab.settle(paid, order: order.number, to: "granted")
      let second = try await lab.order(key: key)
      try expect(second.number == order.number, "the same number")
    },
    ConformanceCheck(
      "order-key-whole", "two long keys are two, if only their last character differs", keys,
      needs: [.product]
    ) { lab in
      let stem = await lab.unique("key").padding(toLength: 254, withPad: "k", startingAt: 0)
      let first = try await lab.order(key: stem + "a")
      let second = try await lab.order(key: stem + "b")
      try expect(first.number != second.number, "another number")
    },
    ConformanceCheck("order-key-case", "keys are compared with their case", keys, needs: [.product]) { lab in
      let key = await lab.unique("key")
      let first = try await lab.order(key: key)
      let second = try await lab.order(key: key.uppercased())
      try expect(first.number != second.number, "another number")
    },
    ConformanceCheck(
      "order-key-refused", "a key whose order was refused can be used for a right one", keys,
      needs: [.product]
    ) { lab in
      let key = await lab.unique("key")
      let refused = try await lab.makeOrder(
        key: key, ["productID": .string(await lab.unique("not.sold")), "quantity": 1])
      try expect(refused.isRefusal, "a 4xx for a product that is not sold")
      _ = try await lab.order(key: key)
    },
    ConformanceCheck(
      "order-quantity", "an order for less than one, or for a part, is refused", invalid, needs: [.product]
    ) { lab in
      let product = try await lab.productID()
      for quantity in [0, -1, .number("1.5"), "2", .null] as [JSONValue] {
        let reply = try await lab.makeOrder(
          key: lab.unique("key"), ["productID": .string(product), "quantity": quantity])
        try expect(reply.isRefusal, "a 4xx for the quantity \(quantity.text)")
      }
    },
    ConformanceCheck("order-no-product", "an order without a product is refused", invalid, needs: []) { lab in
      for product in ["", " ", .null, 7] as [JSONValue] {
        let reply = try await lab.makeOrder(
          key: lab.unique("key"), ["productID": product, "quantity": 1])
        try expect(reply.isRefusal, "a 4xx for the productID \(product.text)")
      }
    },
    ConformanceCheck(
      "order-times", "times are milliseconds: an order is made now, and expires later",
      .openAPI("POST", "/v1/orders", 201), needs: [.product]
    ) { lab in
      let product = try await lab.productID()
      let reply = try await lab.makeOrder(
        key: lab.unique("key"), ["productID": .string(product), "quantity": 1])
      guard case .integer(let made)? = reply.json?["createdAt"] else {
        throw ConformanceFailure("an integer createdAt")
      }
      let now = ConformanceLab.now
      try expect(abs(made - now) < ConformanceLab.day, "a createdAt of today, in milliseconds: about \(now)")
      guard let end = ConformanceLab.present(reply.json, "expiresAt") else { return }
      guard case .integer(let expires) = end, expires > made else {
        throw ConformanceFailure("an expiresAt after createdAt, in milliseconds, or none")
      }
    },
  ]

  /// Orders that a device made.
  static let registrations: [ConformanceCheck] = [
    ConformanceCheck(
      "register-number", "a device's order has the number device- and a UUID; others are refused", conflict,
      needs: [.product, .accounts]
    ) { lab in
      let own = try await lab.order()
      for number in ["order-\(UUID().uuidString)", "device-1", UUID().uuidString, own.number + "0"] {
        let reply = try await lab.register(number, try await lab.deviceOrder(number))
        try expect(reply.isRefusal, "a 4xx for the number \(number)")
      }
    },
    ConformanceCheck(
      "register-path", "a registration whose path names another order is refused", conflict,
      needs: [.product, .accounts]
    ) { lab in
      let (path, body) = ("device-" + UUID().uuidString, "device-" + UUID().uuidString)
      let reply = try await lab.register(path, try await lab.deviceOrder(body))
      try expect(reply.isRefusal, "a 4xx")
      let read = try await lab.send("GET", ConformanceLab.path(of: body))
      try expect(read.status == 404, "no order of that number: 404")
    },
    ConformanceCheck(
      "register-token", "a device's order cannot take the token of an order of the same account", conflict,
      needs: [.product, .accounts]
    ) { lab in
      let taken = try await lab.order()
      let number = "device-" + UUID().uuidString
      let order = ConformanceLab.with(
        try await lab.deviceOrder(number), "accountToken", .string(taken.token))
      let reply = try await lab.register(number, order)
      try expect(reply.isRefusal, "409, or another 4xx")
      try expect(reply.json?["type"]?.string != "auth", "another type than auth")
    },
    ConformanceCheck(
      "register-token-of-other", "a device's order cannot take the token of another account's order",
      conflict, needs: [.store, .accounts]
    ) { lab in
      let (bobs, paid) = try await lab.paidOrder(as: .bob)
      let number = "device-" + UUID().uuidString
      let order = ConformanceLab.with(
        try await lab.deviceOrder(number), "accountToken", .string(bobs.token))
      let reply = try await lab.register(number, order)
      try expect(reply.isRefusal, "409, or another 4xx")
      try await lab.gaining(1, by: .bob) { try await lab.settle(paid, to: "otherOwner") }
    },
    ConformanceCheck(
      "register-token-twice", "two orders of devices cannot have one token", conflict,
      needs: [.product, .accounts]
    ) { lab in
      let (first, second) = ("device-" + UUID().uuidString, "device-" + UUID().uuidString)
      let order = try await lab.deviceOrder(first)
      _ = try await lab.register(first, order)
      let reply = try await lab.register(second, ConformanceLab.with(order, "number", .string(second)))
      try expect(reply.isRefusal, "409, or another 4xx")
    },
    ConformanceCheck(
      "register-conflict", "other contents under a registered number are a 409 of type order-conflict",
      conflict, needs: [.product, .accounts]
    ) { lab in
      let number = "device-" + UUID().uuidString
      let order = try await lab.deviceOrder(number)
      _ = try await lab.register(number, order)
      let reply = try await lab.register(number, ConformanceLab.with(order, "quantity", 5))
      try expect(reply.status == 409, "409")
      try expect(reply.json?["type"]?.string == "order-conflict", "the type order-conflict")
    },
    ConformanceCheck(
      "register-state", "a registration delivers no order, whatever state the device says", registered,
      needs: [.store, .accounts]
    ) { lab in
      for word in ["delivered", "paid", "expired", "a-later-word"] as [JSONValue] {
        let number = "device-" + UUID().uuidString
        let order = ConformanceLab.with(try await lab.deviceOrder(number), "state", word)
        let reply = try await lab.gaining(0) { try await lab.register(number, order) }
        try expect(reply.isSuccess || reply.isRefusal, "a 2xx, or a 4xx")
        let isTaken = reply.isSuccess
        if isTaken {
          let state = try await lab.state(of: number)
          try expect(state != "delivered" && state != "paid", "another state: nothing is paid")
        }
        let paid = try await lab.pay(token: order["accountToken"]?.string, storeAccount: lab.unique("apple"))
        try await lab.gaining(1) { try await lab.settle(paid, order: number, to: "granted") }
        if isTaken { try await lab.expectState("delivered", of: number) }
      }
    },
    ConformanceCheck(
      "register-cancelled", "an order that is cancelled when it is registered still takes its payment",
      registered, needs: [.store, .accounts]
    ) { lab in
      let number = "device-" + UUID().uuidString
      let order = ConformanceLab.with(try await lab.deviceOrder(number), "state", "cancelled")
      let reply = try await lab.register(number, order)
      try expect(reply.isSuccess, "a 2xx")
      try await lab.expectState("cancelled", of: number)
      let paid = try await lab.pay(token: order["accountToken"]?.string, storeAccount: lab.unique("apple"))
      try await lab.gaining(1) { try await lab.settle(paid, order: number, to: "granted") }
      try await lab.expectState("delivered", of: number)
    },
    ConformanceCheck(
      "register-moves", "a repeated registration moves an unpaid order on, to deferred or cancelled",
      registered, needs: [.product, .accounts]
    ) { lab in
      let number = "device-" + UUID().uuidString
      let order = try await lab.deviceOrder(number)
      for state in ["open", "deferred", "cancelled"] {
        let reply = try await lab.register(number, ConformanceLab.with(order, "state", .string(state)))
        try expect(reply.isSuccess, "a 2xx for the state \(state)")
        try expect(reply.json?["state"]?.string == state, "the state \(state)")
      }
    },
    ConformanceCheck(
      "register-moves-back", "a repeated registration does not open an order again", registered,
      needs: [.product, .accounts]
    ) { lab in
      let number = "device-" + UUID().uuidString
      let order = try await lab.deviceOrder(number)
      _ = try await lab.register(number, ConformanceLab.with(order, "state", "cancelled"))
      let reply = try await lab.register(number, order)
      try expect(reply.isSuccess, "a 2xx")
      try await lab.expectState("cancelled", of: number)
    },
    ConformanceCheck(
      "register-delivered", "a late registration changes nothing about a delivered order", registered,
      needs: [.store, .accounts]
    ) { lab in
      let number = "device-" + UUID().uuidString
      let order = try await lab.deviceOrder(number)
      _ = try await lab.register(number, order)
      let paid = try await lab.pay(token: order["accountToken"]?.string, storeAccount: lab.unique("apple"))
      try await lab.settle(paid, order: number, to: "granted")
      _ = try await lab.register(number, ConformanceLab.with(order, "state", "cancelled"))
      try await lab.expectState("delivered", of: number)
    },
    ConformanceCheck(
      "register-unsold", "a device's order of nothing, or of a product that is not sold, is refused",
      .openAPI("PUT", "/v1/orders/{number}", 422), needs: [.product, .accounts]
    ) { lab in
      for (name, value) in [("quantity", 0), ("productID", ""), ("productID", "not.sold.at.all")]
        as [(String, JSONValue)]
      {
        let number = "device-" + UUID().uuidString
        let order = ConformanceLab.with(try await lab.deviceOrder(number), name, value)
        let reply = try await lab.register(number, order)
        try expect(reply.isRefusal, "a 4xx for the \(name) \(value.text)")
      }
    },
  ]
}

extension ConformanceLab {
  func makeOrder(key: String, _ order: JSONValue) async throws -> Reply {
    try await send("POST", "v1/orders", headers: ["Idempotency-Key": key], json: order)
  }

  func register(_ number: String, _ order: JSONValue) async throws -> Reply {
    try await send("PUT", Self.path(of: number), json: order)
  }
}

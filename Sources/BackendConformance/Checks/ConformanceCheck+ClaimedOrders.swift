import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let owner = ConformanceSource.yourBackend("Overview")
  private static let upload = ConformanceSource.openAPI("POST", "/v1/receipts", 200)
  private static let rows = ConformanceSource.yourBackend("Who gets it")
  private static let registered = ConformanceSource.yourBackend("Idempotency, and how long")

  /// Which order a payment pays, if the store does not say it or says something else.
  static let claimedOrders: [ConformanceCheck] = [
    ConformanceCheck(
      "claimed-order", "a purchase without a token pays the order that its claim names", owner
    ) { lab in
      let order = try await lab.order()
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      try await lab.gaining(1) { try await lab.settle(paid, order: order.number, to: "granted") }
      try await lab.expectState("delivered", of: order.number)
    },
    ConformanceCheck(
      "claimed-order-told", "the verdict names the order that was paid", upload
    ) { lab in
      let (order, paid) = try await lab.paidOrder()
      let claim = ConformanceLab.claim(paid, order: order.number)
      let word = try await lab.settled(paid, order: order.number)
      try expect(word == "granted", "granted")
      let reply = try await lab.upload([claim], proof: ConformanceLab.signed(paid))
      let named = ConformanceLab.present(try await lab.told(reply, about: paid.transactionID), "orderNumber")
      try expect(named?.string == order.number, "the orderNumber \(order.number)")
    },
    ConformanceCheck(
      "claimed-order-of-other",
      "without a token, the account of the claimed order gets the purchase, not the sender", owner
    ) { lab in
      let order = try await lab.order()
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      try await lab.gaining(0, by: .bob) {
        try await lab.gaining(1) {
          try await lab.settle(paid, order: order.number, as: .bob, to: "otherOwner")
        }
      }
    },
    ConformanceCheck(
      "claimed-order-differs", "a claimed order of another account for another product is not paid", rows
    ) { lab in
      let order = try await lab.order(product: try await lab.otherProductID())
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      try await lab.gaining(0) {
        try await lab.gaining(1, by: .bob) {
          try await lab.settle(paid, order: order.number, as: .bob, to: "granted")
        }
      }
      try await lab.expectState("open", of: order.number)
    },
    ConformanceCheck(
      "claimed-order-paid", "a second payment of a claimed order is credited to the order's account", rows
    ) { lab in
      let (order, _) = try await lab.grantedOrder()
      let second = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      try await lab.gaining(1) {
        try await lab.settle(second, order: order.number, as: .bob, to: "otherOwner")
      }
    },
    ConformanceCheck(
      "other-quantity", "a payment of another quantity is credited as paid, and leaves the order open", owner
    ) { lab in
      let order = try await lab.order()
      let paid = try await lab.pay(token: order.token, storeAccount: lab.unique("apple"), quantity: 3)
      try await lab.gaining(3) { try await lab.settle(paid, order: order.number, to: "granted") }
      try await lab.expectState("open", of: order.number)
    },
    ConformanceCheck(
      "other-product", "a payment of another product is credited as paid, and leaves the order open", owner
    ) { lab in
      let order = try await lab.order()
      let other = try await lab.otherProductID()
      let paid = try await lab.pay(token: order.token, storeAccount: lab.unique("apple"), product: other)
      try await lab.gaining(1, of: other) { try await lab.settle(paid, order: order.number, to: "granted") }
      try await lab.expectState("open", of: order.number)
    },
    ConformanceCheck(
      "other-product-owner", "a payment of another product belongs to the account of its token's order", owner
    ) { lab in
      let order = try await lab.order()
      let other = try await lab.otherProductID()
      let paid = try await lab.pay(token: order.token, storeAccount: lab.unique("apple"), product: other)
      try await lab.gaining(1, of: other) { try await lab.settle(paid, as: .bob, to: "otherOwner") }
    },
    ConformanceCheck(
      "unknown-token", "a purchase with a token that names nothing is granted to who uploads it", owner
    ) { lab in
      let paid = try await lab.pay(token: UUID().uuidString, storeAccount: lab.unique("apple"))
      try await lab.gaining(1) { try await lab.settle(paid, to: "granted") }
    },
    ConformanceCheck(
      "unknown-token-claimed", "a token that names nothing is none: the order that the claim names is paid",
      .yourBackend("Who gets it")
    ) { lab in
      let order = try await lab.order()
      let paid = try await lab.pay(token: UUID().uuidString, storeAccount: lab.unique("apple"))
      try await lab.gaining(1) { try await lab.settle(paid, order: order.number, to: "granted") }
      try await lab.expectState("delivered", of: order.number)
    },
    ConformanceCheck(
      "unknown-order", "a purchase whose claimed order is not known is granted without it", owner
    ) { lab in
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      let lost = await lab.unique("lost-order")
      try await lab.gaining(1) { try await lab.settle(paid, order: lost, to: "granted") }
    },
    ConformanceCheck(
      "claim-registers", "a claim registers the device's order that it brings, and pays it", registered,
      needs: [.store, .accounts]
    ) { lab in
      let number = "device-" + UUID().uuidString
      let order = try await lab.deviceOrder(number)
      let paid = try await lab.pay(token: order["accountToken"]?.string, storeAccount: lab.unique("apple"))
      let claim = ConformanceLab.with(ConformanceLab.claim(paid, order: number), "order", order)
      try await lab.gaining(1) {
        let word = try await lab.settled(claim, paid.transactionID, proof: ConformanceLab.signed(paid))
        try expect(word == "granted", "granted")
      }
      try await lab.expectState("delivered", of: number)
    },
    ConformanceCheck(
      "claim-brings-taken", "a claim whose order has another order's token is granted all the same", owner,
      needs: [.store, .accounts]
    ) { lab in
      let bobs = try await lab.order(as: .bob)
      let number = "device-" + UUID().uuidString
      let order = ConformanceLab.with(
        try await lab.deviceOrder(number), "accountToken", .string(bobs.token))
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      let claim = ConformanceLab.with(ConformanceLab.claim(paid, order: number), "order", order)
      try await lab.gaining(1) {
        let word = try await lab.settled(claim, paid.transactionID, proof: ConformanceLab.signed(paid))
        try expect(word == "granted", "granted: the payment is real")
      }
    },
    ConformanceCheck(
      "claim-brings-others", "a claim that brings another account's order is granted to its sender", owner,
      needs: [.store, .accounts]
    ) { lab in
      let number = "device-" + UUID().uuidString
      let order = try await lab.deviceOrder(number, ofOther: true)
      let paid = try await lab.pay(token: order["accountToken"]?.string, storeAccount: lab.unique("apple"))
      let claim = ConformanceLab.with(ConformanceLab.claim(paid, order: number), "order", order)
      try await lab.gaining(0, by: .bob) {
        try await lab.gaining(1) {
          let word = try await lab.settled(claim, paid.transactionID, proof: ConformanceLab.signed(paid))
          try expect(word == "granted", "granted: the payment is real")
        }
      }
      let read = try await lab.send("GET", ConformanceLab.path(of: number), as: .bob)
      try expect(read.status == 404, "no order of the other account: 404")
    },
    ConformanceCheck(
      "claim-brings-changed", "a claim whose order is known with other contents is granted without it",
      upload,
      needs: [.store, .accounts]
    ) { lab in
      let number = "device-" + UUID().uuidString
      let order = try await lab.deviceOrder(number)
      let registered = try await lab.register(number, order)
      try expect(registered.isSuccess, "a 2xx for the registration")
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      let claim = ConformanceLab.with(
        ConformanceLab.claim(paid, order: number), "order", ConformanceLab.with(order, "quantity", 5))
      try await lab.gaining(1) {
        let word = try await lab.settled(claim, paid.transactionID, proof: ConformanceLab.signed(paid))
        try expect(word == "granted", "granted: the payment is real")
      }
      try await lab.expectState("open", of: number)
      let read = try await lab.send("GET", ConformanceLab.path(of: number))
      try expect(read.json?["quantity"] == 1, "the quantity of the registration")
    },
    ConformanceCheck(
      "late-registration", "a purchase moves to the order that is registered after its upload", owner,
      needs: [.store, .accounts]
    ) { lab in
      let number = "device-" + UUID().uuidString
      let order = try await lab.deviceOrder(number)
      let paid = try await lab.pay(token: order["accountToken"]?.string, storeAccount: lab.unique("apple"))
      // Her other device knows nothing of the order.
      let device = UUID()
      try await lab.settle(paid, as: .device(device), device: device, to: "granted")
      // It moves with the registration, or with the next upload.
      try await lab.gaining(1) {
        let reply = try await lab.register(number, order)
        try expect(reply.isSuccess, "a 2xx for the registration")
        try await lab.settle(paid, order: number, to: "granted", "duplicate")
      }
      try await lab.expectState("delivered", of: number)
    },
    ConformanceCheck(
      "token-learnt-frees", "an order waits again if a token that is learnt later names another account", rows
    ) { lab in
      let claimed = try await lab.order(as: .bob)
      let order = try await lab.order()
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      try await lab.settle(paid, order: claimed.number, as: .bob, to: "granted")
      try await lab.expectState("delivered", of: claimed.number, as: .bob)
      let named = try await lab.restated(paid, ["appAccountToken": .string(order.token)])
      try await lab.gaining(-1, by: .bob) {
        try await lab.gaining(1) { try await lab.settle(named, to: "granted", "duplicate") }
      }
      try await lab.expectState("delivered", of: order.number)
      let state = try await lab.state(of: claimed.number, as: .bob)
      try expect(state != "delivered", "the order of the other account is not delivered any more")
    },
  ]
}

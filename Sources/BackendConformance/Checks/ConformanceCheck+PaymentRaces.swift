import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let missed = ConformanceSource.yourBackend("What is easily missed")
  private static let rows = ConformanceSource.yourBackend("Who gets it")
  /// A race is run so often, because two requests do not always meet.
  private static let rounds = 20

  /// Two decisions at once about one payment: its owner, its order, its refund.
  static let paymentRaces: [ConformanceCheck] = [
    ConformanceCheck(
      "parallel-periods", "two periods that two accounts upload at once belong to one of them", missed
    ) { lab in
      let plan = try await lab.plans().lower
      for _ in 0..<rounds {
        let first = try await lab.pay(token: nil, storeAccount: lab.unique("apple"), product: plan)
        try await hasOneOwner(lab, [try await lab.renew(first), try await lab.renew(first)])
      }
    },
    ConformanceCheck(
      "parallel-members",
      "two subscriptions of a bundle that two accounts upload at once belong to one of them",
      missed
    ) { lab in
      for _ in 0..<rounds { try await hasOneOwner(lab, try await lab.payBundle(token: nil)) }
    },
    ConformanceCheck(
      "parallel-older", "a refund counts, whichever comes first of it and the proof from before it", missed
    ) { lab in
      for _ in 0..<rounds {
        let (order, paid) = try await lab.paidOrder()
        let refunded = try await lab.refund(paid)
        try await lab.gaining(0) {
          _ = try await parallel(6) { number in
            guard number.isMultiple(of: 2) else { return try await lab.settled(paid, order: order.number) }
            let reply = try await lab.notify(refunded.notification)
            try expect(reply.isSuccess, "a 2xx for the notification")
            return "refunded"
          }
          try await lab.settle(paid, order: order.number, to: "refunded")
        }
      }
    },
    ConformanceCheck(
      "parallel-registered", "a device's order that is registered at once with its payment gets it", rows,
      needs: [.store, .accounts]
    ) { lab in
      for _ in 0..<rounds {
        let (number, device) = ("device-" + UUID().uuidString, UUID())
        let order = try await lab.deviceOrder(number)
        let paid = try await lab.pay(
          token: order["accountToken"]?.string, storeAccount: lab.unique("apple"))
        try await lab.gaining(1) {
          _ = try await parallel(2) { request in
            if request == 0 { return try await lab.settled(paid, as: .device(device), device: device) }
            let reply = try await lab.register(number, order)
            try expect(reply.isSuccess, "a 2xx for the registration")
            return "registered"
          }
          try await lab.settle(paid, order: number, to: "granted", "duplicate")
        }
        try await lab.expectState("delivered", of: number)
      }
    },
    ConformanceCheck(
      "parallel-ended", "an order that is ended at once with the upload of its payment is delivered",
      .openAPI("POST", "/v1/orders/{number}/cancel", 200)
    ) { lab in
      for round in 0..<rounds {
        let (order, paid) = try await lab.paidOrder()
        let end = ConformanceLab.path(of: order.number, round.isMultiple(of: 2) ? "cancel" : "defer")
        try await lab.gaining(1) {
          _ = try await parallel(2) { request in
            if request == 0 { return try await lab.settle(paid, order: order.number, to: "granted") }
            let reply = try await lab.send("POST", end)
            try expect(reply.isSuccess, "a 2xx for the end of the order")
            return "ended"
          }
        }
        try await lab.expectState("delivered", of: order.number)
      }
    },
    ConformanceCheck(
      "parallel-candidate",
      "of ten payments at once that propose one order, one pays it, and all are granted",
      rows
    ) { lab in
      let order = try await lab.order()
      var paid: [ConformanceLab.Paid] = []
      for _ in 0..<10 { paid.append(try await lab.pay(token: nil, storeAccount: lab.unique("apple"))) }
      let payments = paid
      try await lab.gaining(10) {
        _ = try await parallel(10) { try await lab.settle(payments[$0], proposing: [order], to: "granted") }
      }
      var named = 0
      for one in payments where try await lab.told(one, as: .alice, device: UUID())["orderNumber"] != nil {
        named += 1
      }
      try expect(named == 1, "the orderNumber in the verdict on one of the ten")
      try await lab.expectState("delivered", of: order.number)
    },
  ]

  /// Two accounts upload two transactions of one payment at once, of which no account has any.
  private static func hasOneOwner(_ lab: ConformanceLab, _ paid: [ConformanceLab.Paid]) async throws {
    let callers: [ConformanceLab.Caller] = [.alice, .bob]
    func held(by caller: ConformanceLab.Caller) async throws -> Int64 {
      var sum: Int64 = 0
      for product in Set(paid.map(\.productID)) { sum += try await lab.held(by: caller, of: product) }
      return sum
    }
    let before = [try await held(by: .alice), try await held(by: .bob)]
    let words = try await parallel(2) { number in
      (number, try await lab.settled(paid[number], as: callers[number]))
    }
    let others = words.filter { $0.1 == "otherOwner" }
    try expect(others.count == 1, "otherOwner for one of the two accounts")
    for (number, _) in others {
      let after = try await held(by: callers[number])
      try expect(after == before[number], "nothing for that account: \(before[number])")
    }
  }
}

import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let once = ConformanceSource.yourBackend("Overview")

  /// Races whose first request has left a trace already: a row without a credit, a refund, an order.
  static let races: [ConformanceCheck] = [
    ConformanceCheck(
      "parallel-notified", "simultaneous uploads of a purchase that a notification told of grant once", once
    ) { lab in
      let (order, paid) = try await lab.paidOrder()
      try await lab.grantsOnce(paid, order.number, after: try await lab.notice(of: paid))
    },
    ConformanceCheck(
      "parallel-period-notified", "simultaneous uploads of a period that a notification told of grant once",
      once
    ) { lab in
      let plan = try await lab.plans().lower
      let (order, paid) = try await lab.paidOrder(product: plan)
      try await lab.grantsOnce(paid, order.number, after: try await lab.notice(of: paid))
    },
    ConformanceCheck(
      "parallel-renewal", "an upload and a notification of a renewal at once credit one period", once
    ) { lab in
      let plan = try await lab.plans().lower
      let (_, paid) = try await lab.grantedOrder(product: plan)
      let renewal = try await lab.renew(paid)
      try await lab.gaining(0, of: plan) {
        let words = try await parallel(10) { number in
          guard number.isMultiple(of: 2) else { return try await lab.settled(renewal) }
          let reply = try await lab.notify(renewal.notification)
          try expect(reply.isSuccess, "a 2xx for the notification")
          return "duplicate"
        }
        try expect(words.count { $0 == "granted" } <= 1, "granted once at most")
      }
    },
    ConformanceCheck(
      "parallel-proofs", "simultaneous uploads of one purchase with different proofs grant once", once
    ) { lab in
      let apple = await lab.unique("apple")
      let (order, paid) = try await lab.paidOrder(storeAccount: apple)
      let receipt = try await lab.receipt(of: apple)
      let claim = ConformanceLab.claim(paid, order: order.number)
      try await lab.gaining(1) {
        let words = try await parallel(10) { number in
          try await lab.settled(
            claim, paid.transactionID,
            proof: number.isMultiple(of: 2) ? receipt : ConformanceLab.signed(paid))
        }
        try expect(words.count { $0 == "granted" } == 1, "granted once")
      }
    },
    ConformanceCheck(
      "parallel-refunds", "simultaneous notifications of one refund take it back once",
      .openAPI("POST", "/v1/notifications/appstore", 200)
    ) { lab in
      _ = try await lab.grantedOrder()
      let (_, paid) = try await lab.grantedOrder()
      let notification = try await lab.refund(paid).notification
      let before = try await lab.held(by: .alice)
      _ = try await parallel(10) { _ in try await lab.notify(notification) }
      let after = try await lab.held(by: .alice)
      // A notification that the store has sent itself may have come before.
      try expect(after == before - 1 || after == before, "one less, the refunded one: \(before - 1)")
      let again = try await lab.notify(notification)
      try expect(again.isSuccess, "a 2xx")
      let end = try await lab.held(by: .alice)
      try expect(end == after, "no more is taken back: \(after)")
    },
    ConformanceCheck(
      "parallel-registrations", "simultaneous registrations of a device's order make one order",
      .openAPI("PUT", "/v1/orders/{number}", 201), needs: [.product, .accounts]
    ) { lab in
      let number = "device-" + UUID().uuidString
      let order = try await lab.deviceOrder(number)
      let statuses = try await parallel(10) { _ in
        try await lab.send("PUT", ConformanceLab.path(of: number), json: order).status
      }
      try expect(statuses.allSatisfy { $0 == 201 || $0 == 200 }, "201 or 200")
      try expect(statuses.count { $0 == 201 } == 1, "201 once, 200 for the others")
    },
    ConformanceCheck(
      "parallel-opposite",
      "simultaneous uploads of the same claims in opposite orders do not block one another",
      .yourBackend("What is easily missed")
    ) { lab in
      var paid: [ConformanceLab.Paid] = []
      for _ in 0..<20 { paid.append(try await lab.pay(token: nil, storeAccount: lab.unique("apple"))) }
      let claims = paid.enumerated().map {
        ConformanceLab.with(ConformanceLab.claim($1), "proof", .integer(Int64($0)))
      }
      let proofs = paid.map(ConformanceLab.signed)
      try await lab.gaining(20) {
        let replies = try await parallel(4) { number in
          try await lab.upload(number.isMultiple(of: 2) ? claims : claims.reversed(), proofs: proofs)
        }
        for reply in replies { try expect(reply.status == 200, "200") }
        let words = replies.flatMap { $0.json?["verdicts"]?.array ?? [] }.map { $0["verdict"]?.string }
        try expect(words.count { $0 == "granted" } == 20, "granted once for each claim")
      }
    },
  ]

  /// Runs these calls at the same time, and returns their results.
  static func parallel<R: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) async throws -> R
  ) async throws -> [R] {
    try await withThrowingTaskGroup(of: R.self) { group in
      for number in 0..<count { group.addTask { try await body(number) } }
      return try await group.reduce(into: [R]()) { $0.append($1) }
    }
  }
}

extension ConformanceLab {
  /// Posts the notification of a purchase, and then uploads the purchase ten times at once. A backend that grants by
  /// notifications tells duplicates only.
  fileprivate nonisolated func grantsOnce(
    _ paid: Paid, _ order: String, after notification: String?
  ) async throws {
    try await gaining(1, of: paid.productID) {
      let reply = try await self.notify(notification)
      try expect(reply.isSuccess, "a 2xx for the notification")
      let words = try await ConformanceCheck.parallel(10) { _ in
        try await self.settled(paid, order: order)
      }
      try expect(words.allSatisfy { $0 == "granted" || $0 == "duplicate" }, "granted or duplicate")
      try expect(words.count { $0 == "granted" } <= 1, "granted once")
    }
  }
}

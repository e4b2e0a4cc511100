import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let parts = ConformanceSource.yourBackend("If a part is refunded")

  /// Refunds of some units of a purchase, and of the rest of a period.
  static let refundedParts: [ConformanceCheck] = [
    ConformanceCheck("refund-part", "a refund of one unit takes one unit back", parts) { lab in
      let before = try await lab.held(by: .alice)
      let (order, paid) = try await lab.paidOrder(quantity: 3)
      _ = try await lab.settled(paid, order: order.number)
      let refunded = try await lab.refund(paid, units: 1)
      let word = try await lab.settled(refunded, order: order.number)
      try expect(word == "refunded", "refunded")
      let after = try await lab.held(by: .alice)
      try expect(after == before + 2, "two units of three: \(before + 2)")
    },
    ConformanceCheck(
      "refund-part-first", "a purchase of which a part was refunded before its upload is granted without it",
      parts
    ) { lab in
      let before = try await lab.held(by: .alice)
      let (order, paid) = try await lab.paidOrder(quantity: 3)
      let refunded = try await lab.refund(paid, units: 1)
      for _ in 0..<2 {
        let word = try await lab.settled(refunded, order: order.number)
        try expect(word == "refunded", "refunded")
      }
      let after = try await lab.held(by: .alice)
      try expect(after == before + 2, "two units of three: \(before + 2)")
      let state = try await lab.state(of: order.number)
      try expect(state == "delivered", "the order is delivered")
    },
    ConformanceCheck(
      "refund-part-grows", "a later share counts in place of the earlier one, and a reversal gives all back",
      parts
    ) { lab in
      let apple = await lab.unique("apple")
      let before = try await lab.held(by: .alice)
      let (order, paid) = try await lab.paidOrder(storeAccount: apple, quantity: 3)
      for units in [1, 2, 2] as [Int64] {
        let refunded = try await lab.refund(paid, units: units)
        _ = try await lab.settled(refunded, order: order.number)
        _ = try await lab.notify(refunded.notification)
        let held = try await lab.held(by: .alice)
        try expect(held == before + 3 - units, "\(3 - units) units of three: \(before + 3 - units)")
      }
      try await lab.reverseRefund(paid)
      var again = try await lab.delivered(to: apple, product: paid.productID)
      again.quantity = paid.quantity
      let word = try await lab.settled(again, order: order.number)
      try expect(word == "granted" || word == "duplicate", "granted, or duplicate")
      let after = try await lab.held(by: .alice)
      try expect(after == before + 3, "three units: \(before + 3)")
    },
    ConformanceCheck(
      "refund-part-told", "a verdict that says how much was refunded says what the proof says", parts
    ) { lab in
      let (order, paid) = try await lab.paidOrder(quantity: 3)
      try await lab.settle(paid, order: order.number, to: "granted")
      let refunded = try await lab.refund(paid, units: 1)
      try await lab.settle(refunded, order: order.number, to: "refunded")
      let reply = try await lab.upload(
        [ConformanceLab.claim(refunded)], proof: ConformanceLab.signed(refunded))
      let told = try await lab.told(reply, about: paid.transactionID)
      let share = JWSText.payload(of: refunded.jws)?["revocationPercentage"]
      if let said = ConformanceLab.present(told, "refundedShare") {
        try expect(said == share, "the refundedShare \(share?.text ?? "of the proof")")
      }
      if let units = ConformanceLab.present(told, "refundedUnits") {
        try expect(units == 1, "one of the refundedUnits")
      }
    },
    ConformanceCheck(
      "refund-part-private", "how much another account got back is not told",
      .openAPI("POST", "/v1/receipts", 200)
    ) { lab in
      let (order, paid) = try await lab.paidOrder(quantity: 3)
      try await lab.settle(paid, order: order.number, to: "granted")
      let refunded = try await lab.refund(paid, units: 1)
      try await lab.settle(refunded, order: order.number, to: "refunded")
      let told = try await lab.told(refunded, as: .bob, device: UUID())
      try expect(told["owner"]?.string == "another", "the owner another")
      for name in ["refundedShare", "refundedUnits", "orderNumber"] {
        try expect(told[name] == nil, "no \(name)")
      }
    },
    ConformanceCheck(
      "refund-part-of-period", "a refund of the rest of a period ends it, and nothing else", parts
    ) { lab in
      let plan = try await lab.plans().lower
      _ = try await lab.grantedOrder()
      let before = (coins: try await lab.held(by: .alice), plan: try await lab.held(by: .alice, of: plan))
      // Paid ten minutes ago: a refund at the moment of the payment would be of all of it.
      let apple = await lab.unique("apple")
      let paid = try await lab.withClock(movedBy: -600_000) {
        try await lab.pay(token: nil, storeAccount: apple, product: plan)
      }
      let granted = try await lab.settled(paid)
      try expect(granted == "granted", "granted")
      let word = try await lab.settled(try await lab.refundRest(of: paid))
      try expect(word == "refunded", "refunded")
      let after = (coins: try await lab.held(by: .alice), plan: try await lab.held(by: .alice, of: plan))
      try expect(after.plan == before.plan, "without the refunded period: \(before.plan)")
      try expect(after.coins == before.coins, "what was bought apart from it: \(before.coins)")
    },
  ]
}

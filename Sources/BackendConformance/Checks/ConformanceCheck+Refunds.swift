import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let verdicts = ConformanceSource.yourBackend("Verdicts")
  private static let told = ConformanceSource.openAPI("POST", "/v1/notifications/appstore", 200)

  /// Refunds, reported by an upload or by a notification.
  static let refunds: [ConformanceCheck] = [
    ConformanceCheck(
      "refund-before-upload", "a purchase that was refunded before its upload is refunded", verdicts
    ) { lab in
      let (order, paid) = try await lab.paidOrder()
      let refunded = try await lab.refund(paid)
      let before = try await lab.held(by: .alice)
      let word = try await lab.settled(refunded, order: order.number)
      try expect(word == "refunded", "refunded")
      let after = try await lab.held(by: .alice)
      try expect(after == before, "nothing granted: \(before)")
    },
    ConformanceCheck("refund-uploaded", "an upload that shows a refund takes the credit back", verdicts) {
      lab in
      let before = try await lab.held(by: .alice)
      let (order, paid) = try await lab.grantedOrder()
      let refunded = try await lab.refund(paid)
      let word = try await lab.settled(refunded, order: order.number)
      try expect(word == "refunded", "refunded")
      let after = try await lab.held(by: .alice)
      try expect(after == before, "without the refunded one: \(before)")
    },
    ConformanceCheck("refund-notified", "a notification of a refund takes the credit back", told) { lab in
      let before = try await lab.held(by: .alice)
      let (_, paid) = try await lab.grantedOrder()
      let reply = try await lab.notify(try await lab.refund(paid).notification)
      try expect(reply.isSuccess, "a 2xx")
      let after = try await lab.held(by: .alice)
      try expect(after == before, "without the refunded one: \(before)")
    },
    ConformanceCheck("refund-notified-again", "a repeated notification of a refund changes nothing", told) {
      lab in
      _ = try await lab.grantedOrder()
      let before = try await lab.held(by: .alice)
      let (_, paid) = try await lab.grantedOrder()
      let refunded = try await lab.refund(paid)
      for _ in 0..<3 {
        let reply = try await lab.notify(refunded.notification)
        try expect(reply.isSuccess, "a 2xx, each time")
      }
      let after = try await lab.held(by: .alice)
      try expect(after == before, "only the refunded one is gone: \(before)")
    },
    ConformanceCheck(
      "refund-notified-first", "a refund that is notified before the upload counts when that comes", told
    ) { lab in
      // What else the account has stays.
      _ = try await lab.grantedOrder()
      let (order, paid) = try await lab.paidOrder()
      let before = try await lab.held(by: .alice)
      let reply = try await lab.notify(try await lab.refund(paid).notification)
      try expect(reply.isSuccess, "a 2xx")
      // The proof is from before the refund.
      let word = try await lab.settled(paid, order: order.number)
      try expect(word == "refunded", "refunded")
      let after = try await lab.held(by: .alice)
      try expect(after == before, "nothing granted: \(before)")
    },
    ConformanceCheck("refund-of-one", "a refund of one purchase leaves the others", verdicts) { lab in
      let (first, one) = try await lab.grantedOrder()
      _ = try await lab.grantedOrder()
      let before = try await lab.held(by: .alice)
      let refunded = try await lab.refund(one)
      _ = try await lab.settled(refunded, order: first.number)
      _ = try await lab.notify(refunded.notification)
      let after = try await lab.held(by: .alice)
      try expect(after == before - 1, "one less: \(before - 1)")
    },
    ConformanceCheck("refund-not-again", "a refunded purchase is not granted by a later upload", verdicts) {
      lab in
      let before = try await lab.held(by: .alice)
      let (order, paid) = try await lab.grantedOrder()
      let refunded = try await lab.refund(paid)
      _ = try await lab.notify(refunded.notification)
      for proof in [refunded, paid] {
        let word = try await lab.settled(proof, order: order.number)
        try expect(word == "refunded", "refunded")
      }
      let after = try await lab.held(by: .alice)
      try expect(after == before, "without the refunded one: \(before)")
    },
    ConformanceCheck("refund-reversed", "a refund that the store takes back counts no more", verdicts) {
      lab in
      let apple = await lab.unique("apple")
      let before = try await lab.held(by: .alice)
      let (order, paid) = try await lab.paidOrder(storeAccount: apple)
      _ = try await lab.settled(paid, order: order.number)
      let refunded = try await lab.refund(paid)
      _ = try await lab.settled(refunded, order: order.number)
      try await lab.reverseRefund(paid)
      // Signed after the reversal.
      let again = try await lab.delivered(to: apple, product: paid.productID)
      let word = try await lab.settled(again, order: order.number)
      try expect(word == "granted" || word == "duplicate", "granted, or duplicate")
      let after = try await lab.held(by: .alice)
      try expect(after == before + 1, "it counts again: \(before + 1)")
    },
  ]
}

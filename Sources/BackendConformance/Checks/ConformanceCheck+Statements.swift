import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let parts = ConformanceSource.yourBackend("If a part is refunded")
  private static let taken = ConformanceSource.openAPI("POST", "/v1/notifications/appstore", 200)

  /// What the fields of a refund say, alone and together.
  static let statements: [ConformanceCheck] = [
    ConformanceCheck("refund-full-share", "REFUND_FULL is all of it, whatever the share says", parts) { lab in
      try await takesAll(lab, ["revocationPercentage": 40_000])
    },
    ConformanceCheck("refund-dated", "a revocationDate without a share and a type is all of it", parts) {
      lab in
      try await takesAll(lab, ["revocationType": .null, "revocationPercentage": .null])
    },
    ConformanceCheck(
      "refund-undated-share", "a share without a revocationDate takes nothing back", parts
    ) { lab in
      let (order, paid) = try await lab.paidOrder(quantity: 3)
      let told = try await lab.restated(
        paid, ["revocationType": "REFUND_PRORATED", "revocationPercentage": 66_666])
      try await lab.gaining(3) { try await lab.settle(told, order: order.number, to: "granted") }
    },
    ConformanceCheck("refund-share-range", "a share below 0 or above 100,000 is rejected", parts) { lab in
      for share in [-1, 100_001] as [Int64] {
        let (order, paid) = try await lab.paidOrder(quantity: 3)
        let refunded = try await lab.refund(paid, units: 1)
        let odd = try await lab.restated(refunded, ["revocationPercentage": .integer(share)])
        try await lab.gaining(0) { try await lab.settle(odd, order: order.number, to: "rejected") }
      }
    },
    ConformanceCheck(
      "refund-part-below", "a refund of less than a unit takes none, and is still told as refunded", parts
    ) { lab in
      let (order, paid) = try await lab.paidOrder(quantity: 3)
      let refunded = try await lab.restated(
        try await lab.refund(paid, units: 1), ["revocationPercentage": 20_000])
      try await lab.gaining(3) { try await lab.settle(refunded, order: order.number, to: "refunded") }
    },
    ConformanceCheck(
      "refund-small-share-of-period", "a refunded period is over, however small the share is", parts
    ) { lab in
      let plan = try await lab.plans().lower
      let (_, paid) = try await lab.grantedOrder(product: plan)
      let refunded = try await lab.refund(paid)
      let part = try await lab.restated(
        refunded, ["revocationType": "REFUND_PRORATED", "revocationPercentage": 1_000])
      try await lab.gaining(-1, of: plan) { try await lab.settle(part, to: "refunded") }
    },
    ConformanceCheck(
      "refund-after-reversal", "a purchase that is refunded again after a reversal is taken back again", taken
    ) { lab in
      let before = try await lab.held(by: .alice)
      let (_, paid) = try await lab.grantedOrder()
      _ = try await lab.notify(try await lab.refund(paid).notification)
      _ = try await lab.notify(try await lab.reverseRefund(paid).notification)
      _ = try await lab.notify(try await lab.refund(paid).notification)
      let after = try await lab.held(by: .alice)
      try expect(after == before, "without the refunded one: \(before)")
    },
    ConformanceCheck(
      "revoke-share", "FAMILY_REVOKE takes a family's share back, whatever its revocationPercentage says",
      parts
    ) { lab in
      let product = try await lab.sharedProductID()
      let family = try await lab.familyShare(of: product)
      try await lab.settle(family.share, as: .bob, to: "granted")
      try await lab.unshare(of: family.payer)
      let revoked = try await lab.restated(family.share, ["revocationPercentage": 30_000])
      try await lab.gaining(-1, of: product, by: .bob) {
        try await lab.settle(revoked, as: .bob, to: "refunded")
      }
    },
    ConformanceCheck(
      "refund-of-shared",
      "a refund takes a shared purchase from its payer, and the share by its own statement",
      parts
    ) { lab in
      let product = try await lab.sharedProductID()
      let family = try await lab.familyShare(of: product)
      try await lab.settle(family.paid, to: "granted")
      try await lab.settle(family.share, as: .bob, to: "granted")
      let refunded = try await lab.refund(family.paid)
      try await lab.gaining(-1, of: product) { _ = try await lab.notify(refunded.notification) }
      try await lab.settle(try await lab.restated(family.share, [:]), as: .bob, to: "refunded")
    },
    ConformanceCheck(
      "refund-full-replaced", "REFUND_FULL of a replaced period is a refund of it, and of no other", parts
    ) { lab in
      let (old, higher) = try await lab.replacedPeriod()
      let refunded = try await lab.restated(
        try await lab.refundRest(of: old), ["revocationType": "REFUND_FULL"])
      try await lab.gaining(0, of: higher) { try await lab.settle(refunded, to: "refunded") }
    },
  ]

  /// A refund of three units, whose transaction has these fields besides, leaves none.
  private static func takesAll(_ lab: ConformanceLab, _ fields: [String: JSONValue]) async throws {
    let (order, paid) = try await lab.paidOrder(quantity: 3)
    try await lab.gaining(0) {
      try await lab.settle(paid, order: order.number, to: "granted")
      let refunded = try await lab.restated(try await lab.refund(paid), fields)
      try await lab.settle(refunded, order: order.number, to: "refunded")
    }
  }
}

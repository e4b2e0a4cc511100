import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let parts = ConformanceSource.yourBackend("If a part is refunded")
  private static let verdicts = ConformanceSource.yourBackend("Verdicts")
  private static let told = ConformanceSource.openAPI("POST", "/v1/notifications/appstore", 200)

  /// When periods end, and what ends them.
  static let periods: [ConformanceCheck] = [
    ConformanceCheck(
      "period-refunded-alone", "the refund of an earlier period leaves the later one", parts
    ) { lab in
      let plan = try await lab.plans().lower
      let paid = try await lab.withClock(movedBy: -ConformanceLab.day) {
        try await lab.pay(token: nil, storeAccount: lab.unique("apple"), product: plan)
      }
      try await lab.settle(paid, to: "granted")
      try await lab.settle(try await lab.renew(paid), to: "granted", "duplicate")
      let before = try await lab.held(by: .alice, of: plan)
      try await lab.settle(try await lab.refund(paid), to: "refunded")
      let after = try await lab.held(by: .alice, of: plan)
      try expect(after == before, "the later period, which is paid: \(before)")
    },
    ConformanceCheck("period-over-lately", "a period that ended ten minutes ago is lapsed", verdicts) { lab in
      let plan = try await lab.plans().lower
      let length = try await lab.length(of: plan)
      let paid = try await lab.withClock(movedBy: -length - 600_000) {
        let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"), product: plan)
        try await lab.endRenewal(of: paid)
        return paid
      }
      try await lab.gaining(0, of: plan) { try await lab.settle(paid, to: "lapsed") }
    },
    ConformanceCheck("period-over-soon", "a period that ends in ten minutes is granted", verdicts) { lab in
      let plan = try await lab.plans().lower
      let length = try await lab.length(of: plan)
      let paid = try await lab.withClock(movedBy: -length + 600_000) {
        try await lab.pay(token: nil, storeAccount: lab.unique("apple"), product: plan)
      }
      // A count leaves out what ends within the hour: nothing that lasts longer is added to it.
      try await lab.gaining(0, of: plan) { try await lab.settle(paid, to: "granted") }
      let end = JWSText.payload(of: paid.jws)?["expiresDate"]
      let listed = try await lab.entitlements(of: plan, by: .alice).filter { $0["expiresAt"] == end }
      try expect(
        listed.count == 1 && listed[0]["quantity"] == 1,
        "one entitlement of 1 with the expiresAt \(end?.text ?? "of its proof")")
    },
    ConformanceCheck(
      "period-lapsed-owner", "a period that is over fulfils no order of another account", verdicts
    ) { lab in
      let plan = try await lab.plans().lower
      let (order, old) = try await lab.withClock(movedBy: -400 * ConformanceLab.day) {
        let (order, old) = try await lab.paidOrder(product: plan)
        try await lab.endRenewal(of: old)
        return (order, old)
      }
      let told = try await lab.told(old, as: .bob, device: UUID())
      try expect(["lapsed", "otherOwner"].contains(told["verdict"]?.string), "lapsed")
      try expect(told["owner"]?.string == "another", "the owner another")
      let isNamed = told.values.contains { $0.string?.contains(order.number) == true }
      try expect(!isNamed, "no order number of the other account")
    },
    ConformanceCheck(
      "period-grace", "a period whose charge failed goes on in its grace", told
    ) { lab in
      let late = try await lab.failedCharge(daysAgo: 1)
      let reply = try await lab.notify(try await lab.notice(of: late, "type=DID_FAIL_TO_RENEW"))
      try expect(reply.isSuccess, "a 2xx")
      try await lab.gaining(1, of: late.productID) { try await lab.settle(late, to: "granted") }
    },
    ConformanceCheck("period-grace-over", "a period is over when its grace is", told) { lab in
      let late = try await lab.failedCharge(daysAgo: 30)
      let reply = try await lab.notify(try await lab.notice(of: late, "type=GRACE_PERIOD_EXPIRED"))
      try expect(reply.isSuccess, "a 2xx")
      try await lab.gaining(0, of: late.productID) { try await lab.settle(late, to: "lapsed") }
    },
    ConformanceCheck(
      "upgrade-cancelled", "the refund of an upgrade ends it, and does not bring the lower plan back",
      .openAPI("GET", "/v1/entitlements", 200)
    ) { lab in
      let (lower, higher) = try await lab.plans()
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"), product: lower)
      try await lab.gaining(0, of: lower) {
        try await lab.gaining(0, of: higher) {
          try await lab.settle(paid, to: "granted")
          let upgrade = try await lab.renew(paid, to: higher)
          try await lab.settle(upgrade, to: "granted", "duplicate")
          try await lab.settle(try await lab.refund(upgrade), to: "refunded")
          try await lab.settle(try await lab.signedAgain(paid), to: "granted", "duplicate", "lapsed")
        }
      }
    },
    ConformanceCheck(
      "upgrade-refunded", "the rest of a replaced plan's price is no refund of a purchase", parts
    ) { lab in
      let (old, higher) = try await lab.replacedPeriod()
      let before = try await lab.held(by: .alice, of: higher)
      try await lab.settle(try await lab.refundRest(of: old), to: "granted", "duplicate")
      let after = try await lab.held(by: .alice, of: higher)
      try expect(after == before, "the higher plan: \(before)")
    },
  ]
}

extension ConformanceLab {
  /// The length of a plan's period in milliseconds.
  fileprivate func length(of plan: String) async throws -> Int64 {
    let product = try await allProducts().first { $0["id"]?.string == plan }
    guard case .integer(let length)? = product?["periodMilliseconds"] else {
      throw ConformanceFailure("the periodMilliseconds of \(plan) in the store's list")
    }
    return length
  }
}

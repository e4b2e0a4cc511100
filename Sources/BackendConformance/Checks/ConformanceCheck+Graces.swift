import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let missed = ConformanceSource.yourBackend("What is easily missed")

  /// When a grace ends, whose it is, and which renewal info says so.
  static let graces: [ConformanceCheck] = [
    ConformanceCheck(
      "grace-end", "a grace ends at its gracePeriodExpiresDate, and an entitlement says so", missed
    ) { lab in
      let late = try await lab.failedCharge(daysAgo: 1)
      let notice = try await lab.failureNotice(of: late)
      try await lab.tell(notice)
      let before = try await lab.ends(of: late.productID, by: .alice)
      try await lab.settle(late, to: "granted")
      let after = try await lab.ends(of: late.productID, by: .alice)
      try expect(after == before + Double(try graceEnd(in: notice)), "the expiresAt of the grace")
      let grace = try await lab.gracedPlan().grace
      let over = try await lab.failedCharge(ago: grace + 600_000)
      try await lab.tell(
        try await lab.withClock(movedBy: -grace / 2) { try await lab.failureNotice(of: over) })
      try await lab.gaining(0, of: over.productID) { try await lab.settle(over, to: "lapsed") }
    },
    ConformanceCheck(
      "grace-withdrawn", "a grace that a newer renewal info does not have any more is over", missed
    ) { lab in
      let (late, notices) = try await lab.withdrawnGrace()
      for notice in notices { try await lab.tell(notice) }
      try await lab.gaining(0, of: late.productID) { try await lab.settle(late, to: "lapsed") }
    },
    ConformanceCheck(
      "grace-older", "an older renewal info that comes after a newer one changes no grace", missed
    ) { lab in
      let late = try await lab.failedCharge(daysAgo: 1)
      try await lab.tell(try await lab.failureNotice(of: late))
      try await lab.tell(late.notification)
      try await lab.gaining(1, of: late.productID) { try await lab.settle(late, to: "granted") }
      let (over, notices) = try await lab.withdrawnGrace()
      for notice in notices.reversed() { try await lab.tell(notice) }
      try await lab.gaining(0, of: over.productID) { try await lab.settle(over, to: "lapsed") }
    },
    ConformanceCheck("grace-of-last", "the grace is of the last period: the one before is over", missed) {
      lab in
      let plan = try await lab.gracedPlan()
      let apple = await lab.unique("apple")
      let first = try await lab.withClock(movedBy: -2 * plan.length - ConformanceLab.day) {
        try await lab.pay(token: nil, storeAccount: apple, product: plan.id)
      }
      let last = try await lab.withClock(movedBy: -plan.length - ConformanceLab.day / 2) {
        try await lab.refuseCharges(of: apple)
        return try await lab.delivered(to: apple, product: plan.id)
      }
      try expect(last.transactionID != first.transactionID, "a renewal of the store")
      try await lab.tell(try await lab.failureNotice(of: last))
      try await lab.gaining(0, of: plan.id) { try await lab.settle(first, to: "lapsed") }
    },
    ConformanceCheck("grace-refunded", "a refund of the period ends its grace, too", missed) { lab in
      let late = try await lab.failedCharge(daysAgo: 1)
      try await lab.tell(try await lab.failureNotice(of: late))
      let refunded = try await lab.gaining(0, of: late.productID) {
        try await lab.settle(late, to: "granted")
        let refunded = try await lab.refund(late)
        // Its proof alone: the notification comes with a renewal info that has no grace any more.
        try await lab.settle(refunded, to: "refunded")
        return refunded
      }
      try await lab.gaining(0, of: late.productID) { try await lab.tell(refunded.notification) }
    },
  ]

  private static func graceEnd(in notice: String?) throws -> Int64 {
    let info = notice.flatMap(JWSText.payload)?["data"]?["signedRenewalInfo"]?.string
    guard case .integer(let end)? = info.flatMap(JWSText.payload)?["gracePeriodExpiresDate"] else {
      throw ConformanceFailure("a gracePeriodExpiresDate in the store's renewal info")
    }
    return end
  }
}

extension ConformanceLab {
  /// A subscription with a grace period, whose period and grace last so many milliseconds.
  fileprivate func gracedPlan() async throws -> (id: String, length: Int64, grace: Int64) {
    for product in try await allProducts() where product["invitations"] == nil {
      if case .integer(let grace)? = product["gracePeriodMilliseconds"],
        case .integer(let length)? = product["periodMilliseconds"], let id = product["id"]?.string,
        product["trialMilliseconds"] == nil
      {
        return (id, length, grace)
      }
    }
    throw ConformanceFailure("a subscription with a grace period in the store's list")
  }

  /// A subscription with a grace period whose renewal could not be charged so many days ago.
  nonisolated func failedCharge(daysAgo days: Int64) async throws -> Paid {
    try await failedCharge(ago: days * Self.day)
  }

  /// The same by milliseconds. The notification is that of the payment.
  fileprivate nonisolated func failedCharge(ago time: Int64) async throws -> Paid {
    let plan = try await gracedPlan()
    let apple = await unique("apple")
    return try await withClock(movedBy: -plan.length - time) {
      var paid = try await self.pay(token: nil, storeAccount: apple, product: plan.id)
      paid.notification = try await self.notice(of: paid)
      try await self.refuseCharges(of: apple)
      return paid
    }
  }

  /// From now on the card of a store account cannot be charged.
  fileprivate func refuseCharges(of storeAccount: String) async throws {
    let reply = try await ask(
      "POST", "store/accounts", ["storeAccount": .string(storeAccount), "billingWorks": .bool(false)])
    try expect(reply.status == 200, "200 of the store, for a card that cannot be charged")
  }

  /// A period in its grace that the store then refunds, and gives back without the grace: it does not renew any more. With
  /// the notification of the grace, and the one after its end.
  fileprivate func withdrawnGrace() async throws -> (Paid, notices: [String?]) {
    let late = try await failedCharge(daysAgo: 1)
    let graced = try await failureNotice(of: late)
    _ = try await refund(late)
    try await reverseRefund(late)
    return (late, [graced, try await notice(of: late, "type=EXPIRED&subtype=VOLUNTARY")])
  }

  func failureNotice(of paid: Paid) async throws -> String? {
    try await notice(of: paid, "type=DID_FAIL_TO_RENEW&subtype=GRACE_PERIOD")
  }

  /// Posts a notification that the backend has to take.
  func tell(_ notice: String?) async throws {
    let reply = try await notify(notice)
    try expect(reply.isSuccess, "a 2xx")
  }
}

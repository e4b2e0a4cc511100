import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let verdicts = ConformanceSource.yourBackend("Verdicts")
  private static let overview = ConformanceSource.yourBackend("Overview")
  private static let held = ConformanceSource.openAPI("GET", "/v1/entitlements", 200)
  private static let told = ConformanceSource.openAPI("POST", "/v1/notifications/appstore", 200)

  /// Periods of subscriptions.
  static let subscriptions: [ConformanceCheck] = [
    ConformanceCheck("subscription-granted", "a subscription is listed with the end of its period", held) {
      lab in
      let plan = try await lab.plans().lower
      let before = try await lab.ends(of: plan, by: .alice)
      _ = try await lab.grantedOrder(product: plan)
      let after = try await lab.ends(of: plan, by: .alice)
      try expect(after > before, "one more subscription, with its expiresAt")
    },
    ConformanceCheck("subscription-lapsed", "a period that is over is lapsed, and grants nothing", verdicts) {
      lab in
      let plan = try await lab.plans().lower
      let before = try await lab.held(by: .alice, of: plan)
      // 400 days ago, so that a year is over too.
      let (order, paid) = try await lab.withClock(movedBy: -400 * 86_400_000) {
        let (order, paid) = try await lab.paidOrder(product: plan)
        try await lab.endRenewal(of: paid)
        return (order, paid)
      }
      let word = try await lab.settled(paid, order: order.number)
      try expect(word == "lapsed", "lapsed")
      let after = try await lab.held(by: .alice, of: plan)
      try expect(after == before, "nothing granted: \(before)")
    },
    ConformanceCheck("subscription-renewed", "an uploaded renewal extends the subscription", verdicts) {
      lab in
      let plan = try await lab.plans().lower
      let (_, paid) = try await lab.grantedOrder(product: plan)
      let before = try await lab.ends(of: plan, by: .alice)
      let renewal = try await lab.renew(paid)
      let word = try await lab.settled(renewal)
      try expect(
        word == "granted" || word == "duplicate", "granted; duplicate if the store's notification was first")
      let after = try await lab.ends(of: plan, by: .alice)
      try expect(after > before, "a later expiresAt")
    },
    ConformanceCheck(
      "subscription-renewal-owner", "a renewal belongs to the account of the period before", overview
    ) { lab in
      let plan = try await lab.plans().lower
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"), product: plan)
      let first = try await lab.settled(paid)
      try expect(first == "granted", "granted")
      let before = (
        alice: try await lab.ends(of: plan, by: .alice), bob: try await lab.held(by: .bob, of: plan)
      )
      let word = try await lab.settled(try await lab.renew(paid), as: .bob)
      try expect(word == "otherOwner", "otherOwner")
      let after = (
        alice: try await lab.ends(of: plan, by: .alice), bob: try await lab.held(by: .bob, of: plan)
      )
      try expect(after.alice > before.alice, "a later expiresAt of the account that has the subscription")
      try expect(after.bob == before.bob, "nothing for the account that uploaded it: \(before.bob)")
    },
    ConformanceCheck(
      "subscription-renewal-notified", "a notified renewal extends the subscription without an upload", told
    ) { lab in
      let plan = try await lab.plans().lower
      let (_, paid) = try await lab.grantedOrder(product: plan)
      let before = try await lab.ends(of: plan, by: .alice)
      let reply = try await lab.notify(try await lab.renew(paid).notification)
      try expect(reply.isSuccess, "a 2xx")
      let after = try await lab.ends(of: plan, by: .alice)
      try expect(after > before, "a later expiresAt")
    },
    ConformanceCheck(
      "subscription-renewal-once", "a repeated notification of a renewal credits one period", told
    ) { lab in
      let plan = try await lab.plans().lower
      let (_, paid) = try await lab.grantedOrder(product: plan)
      let before = try await lab.held(by: .alice, of: plan)
      let renewal = try await lab.renew(paid)
      for _ in 0..<3 {
        let reply = try await lab.notify(renewal.notification)
        try expect(reply.isSuccess, "a 2xx, each time")
      }
      let word = try await lab.settled(renewal)
      try expect(word == "duplicate", "duplicate for the upload after it")
      let after = try await lab.held(by: .alice, of: plan)
      try expect(after == before, "one subscription still: \(before)")
    },
    ConformanceCheck("subscription-upgraded", "an upgrade replaces the lower plan", held) { lab in
      let (lower, higher) = try await lab.plans()
      let before = (
        lower: try await lab.held(by: .alice, of: lower), higher: try await lab.held(by: .alice, of: higher)
      )
      let apple = await lab.unique("apple")
      // Without a token only the period before says whose the upgrade is, and not the account that uploads it.
      let paid = try await lab.pay(token: nil, storeAccount: apple, product: lower)
      _ = try await lab.settled(paid)
      let upgrade = try await lab.renew(paid, to: higher)
      _ = try await lab.settled(upgrade, as: .bob)
      // The store delivers the replaced period again.
      _ = try await lab.settled(try await lab.delivered(to: apple, product: lower))
      let after = (
        lower: try await lab.held(by: .alice, of: lower), higher: try await lab.held(by: .alice, of: higher)
      )
      try expect(after.higher == before.higher + 1, "the higher plan: \(before.higher + 1)")
      try expect(after.lower == before.lower, "the lower plan no more: \(before.lower)")
    },
    ConformanceCheck("subscription-refunded", "a refunded period ends the subscription", held) { lab in
      let plan = try await lab.plans().lower
      let before = try await lab.held(by: .alice, of: plan)
      let (order, paid) = try await lab.grantedOrder(product: plan)
      let word = try await lab.settled(try await lab.refund(paid), order: order.number)
      try expect(word == "refunded", "refunded")
      let after = try await lab.held(by: .alice, of: plan)
      try expect(after == before, "without the refunded one: \(before)")
    },
  ]
}

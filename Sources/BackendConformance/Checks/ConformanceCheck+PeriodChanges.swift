import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let told = ConformanceSource.openAPI("POST", "/v1/notifications/appstore", 200)
  private static let held = ConformanceSource.openAPI("GET", "/v1/entitlements", 200)

  /// What changes the end of a subscription, and what does not.
  static let periodChanges: [ConformanceCheck] = [
    ConformanceCheck(
      "period-order", "an earlier period that is uploaded after a later one changes no end", held
    ) { lab in
      let plan = try await lab.plans().lower
      let first = try await lab.pay(token: nil, storeAccount: lab.unique("apple"), product: plan)
      let renewal = try await lab.renew(first)
      try await lab.settle(renewal, to: "granted")
      let before = try await lab.ends(of: plan, by: .alice)
      try await lab.settle(first, to: "granted", "duplicate")
      let after = try await lab.ends(of: plan, by: .alice)
      try expect(after == before, "the same expiresAt")
    },
    ConformanceCheck(
      "period-extended", "RENEWAL_EXTENDED tells of a later end of a period", told
    ) { lab in
      let plan = try await lab.plans().lower
      let (_, paid) = try await lab.grantedOrder(product: plan)
      guard case .integer(let end)? = JWSText.payload(of: paid.jws)?["expiresDate"] else {
        throw ConformanceFailure("an expiresDate of a subscription")
      }
      let before = try await lab.ends(of: plan, by: .alice)
      let later = try await lab.restated(paid, ["expiresDate": .integer(end + ConformanceLab.day)])
      let reply = try await lab.notify(try await lab.notice(of: later, "type=RENEWAL_EXTENDED"))
      try expect(reply.isSuccess, "a 2xx")
      let after = try await lab.ends(of: plan, by: .alice)
      try expect(after == before + Double(ConformanceLab.day), "an expiresAt that is a day later")
    },
    ConformanceCheck(
      "period-credited-over", "a period that was credited stays a duplicate, also when it is over",
      .yourBackend("What is easily missed")
    ) { lab in
      let plan = try await lab.plans().lower
      let (order, paid) = try await lab.grantedOrder(product: plan)
      let over = try await lab.restated(paid, ["expiresDate": .integer(ConformanceLab.now - 60_000)])
      try await lab.settle(over, order: order.number, to: "duplicate")
    },
    ConformanceCheck(
      "plan-downgraded", "a downgrade for the next period changes nothing in this one", told
    ) { lab in
      let (lower, higher) = try await lab.plans()
      let (_, paid) = try await lab.grantedOrder(product: higher)
      let wish = try await lab.ask(
        "POST", "store/plans",
        ["transactionID": .string(paid.transactionID), "productID": .string(lower)])
      try expect(wish.status == 200, "200 of the store, for another plan")
      try await lab.gaining(0, of: lower) {
        try await lab.gaining(0, of: higher) {
          let notice = try await lab.notice(of: paid, "type=DID_CHANGE_RENEWAL_PREF&subtype=DOWNGRADE")
          let reply = try await lab.notify(notice)
          try expect(reply.isSuccess, "a 2xx")
        }
      }
    },
    ConformanceCheck(
      "seat-renewal", "a later period of a seat belongs to who has the seat's first one",
      .yourBackend("If a subscription has seats")
    ) { lab in
      let team = try await lab.teamID()
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"), product: team, quantity: 2)
      let member = await lab.unique("apple")
      let seat = try await lab.assignSeat(of: paid, to: member, carriesToken: false)
      try await lab.settle(seat, as: .bob, to: "granted")
      _ = try await lab.renew(paid)
      try await lab.settle(try await lab.delivered(to: member, product: team), to: "otherOwner")
    },
    ConformanceCheck(
      "token-learnt", "a purchase moves to the account that a token names which the store learns later",
      .yourBackend("Who gets it")
    ) { lab in
      let order = try await lab.order()
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      try await lab.settle(paid, as: .bob, to: "granted")
      try await lab.gaining(-1, by: .bob) {
        try await lab.gaining(1) {
          let named = try await lab.restated(paid, ["appAccountToken": .string(order.token)])
          try await lab.settle(named, to: "granted", "duplicate")
        }
      }
      try await lab.expectState("delivered", of: order.number)
    },
  ]
}

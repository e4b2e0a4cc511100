import PurchaseSyncTesting
import ScenarioFormat

/// Refunds of some units of a purchase, and of the rest of a period.
extension Scenario {
  private static let buyThree = AppStep.buy(product: gems, account: alice, quantity: 3)

  static let refundedParts: [Scenario] = [
    Scenario(
      name: "one-of-three-refunded", summary: "a third refunded while unsent, and a kill before the finish",
      description: """
        Alice buys three of the gems while the backend is down. Apple refunds one. Her app sends the purchase, and is \
        killed before it has finished it. Two are hers, and the coins that she buys then.
        """,
      attacks: "backends that take any date of a refund for the whole; apps that take everything back",
      proves: ["R3.8", "invariant 22", "invariant 43"],
      launches: [
        Launch(before: [.outage()], does: [buyThree, .use(milliseconds: 60)]),
        Launch(before: [.refunded(purchase: 1, .units(1)), .noFaults], killed: .beforeFinish),
        Launch(does: [buyCoins]),
      ], expects: .init(paid: 2, verdicts: ["refunded": 1], orders: ["delivered": 2])),
    Scenario(
      name: "refund-grows-and-is-reversed",
      summary: "one, two, then none of three refunded, with the same date",
      description: """
        Three of the gems are granted and finished. Apple refunds one, a week later another one of the same payment, \
        and takes it all back after a month. Each time the store delivers the transaction again.
        """,
      attacks: "backends that know a refund by its date, or add its shares up; wallets that take back once",
      proves: ["R3.8", "invariant 22", "invariant 43"],
      launches: [
        Launch(does: [buyThree]),
        Launch(before: [.days(1), .refunded(purchase: 1, .units(1))]),
        Launch(before: [.days(7), .refunded(purchase: 1, .units(2))], killed: .afterGrant),
        Launch(before: [.days(30), .refundReversed(purchase: 1)]),
      ], expects: .init(paid: 1, verdicts: ["refunded": 1, "duplicate": 1])),
    Scenario(
      name: "rest-of-a-month-refunded",
      summary: "the price of ten days of a month is refunded, then bought again",
      description: """
        Alice has used twenty days of a month. Apple refunds the rest and ends it. The coins that she bought stay, and \
        she subscribes again.
        """,
      attacks: "backends that leave a period on because only a part was refunded, or end more than it",
      proves: ["R3.8", "R5.6", "invariant 22"],
      launches: [
        Launch(does: [.buy(product: "basic.monthly", account: alice), buyCoins]),
        Launch(before: [.days(20), .refunded(purchase: 1, .timeLeft)]),
        Launch(before: [.days(1)], does: [.buy(product: "basic.monthly", account: alice)]),
      ], expects: .init(paid: 2, verdicts: ["refunded": 1])),
  ]
}

/// Money that comes month by month.
extension Scenario {
  private static let month = "basic.monthly"
  private static let premium = "premium.monthly"
  private static let subscribe = AppStep.buy(product: month, account: alice)

  static let subscriptions: [Scenario] = [
    Scenario(
      name: "subscription-three-lives", summary: "paid, lapsed, and renewed: one receipt, three answers",
      story: """
        Alice subscribes while the backend is away, and cancels. When the receipt arrives, its month is over: 21006. \
        Then she subscribes again, and the same subscription lives.
        """,
      attacks: "queues that hold on to what has lapsed; backends that never look again",
      proves: ["R1.1", "R1.2", "invariant 22"],
      launches: [
        Launch(before: [.outage()], does: [subscribe, .use(milliseconds: 60)]),
        Launch(
          before: [.renewal(purchase: 1, isOn: false), .days(40), .noFaults], does: [.use(milliseconds: 150)]),
        Launch(does: [subscribe]),
      ], expects: .init(paid: 1, verdicts: ["lapsed": 1])),
    Scenario(
      name: "upgrade", summary: "to the higher plan in the middle of a month: it counts at once",
      story:
        "Two weeks into the cheap plan alice takes the dear one. The store charges at once and ends the old one.",
      attacks: "apps that take the first period's order for all that follow",
      proves: ["R5.6", "invariant 9"],
      launches: [
        Launch(does: [subscribe]),
        Launch(before: [.days(14), .planChanged(purchase: 1, product: premium)]),
      ], expects: .init(paid: 2)),
    Scenario(
      name: "downgrade", summary: "to the lower plan: it counts from the next renewal",
      story: "Alice takes the cheap plan while the dear one runs. Nothing changes until the month is over.",
      attacks: "backends that take a wish for a purchase; apps that ask only when they sell",
      proves: ["R5.6", "R3.10"],
      launches: [
        Launch(does: [.buy(product: premium, account: alice)]),
        Launch(
          before: [.planChanged(purchase: 1, product: month), .days(8)], does: [.use(milliseconds: 60)]),
        Launch(before: [.days(31)]),
      ]),
    Scenario(
      name: "billing-retry-recovers", summary: "the bank refuses a renewal for ten days, then pays",
      story:
        "The card has expired. The store tries again for days; alice enters a new one, and the month is paid.",
      attacks: "apps that hear of renewals only while they run",
      proves: ["R2.6", "R3.9", "R3.10"],
      launches: [
        Launch(does: [subscribe]),
        Launch(
          before: [.billing(storeAccount: storeAccount, works: false), .days(40)],
          does: [.use(milliseconds: 60)]),
        Launch(before: [.billing(storeAccount: storeAccount, works: true), .days(1)]),
      ], expects: .init(paid: 2)),
  ]
}

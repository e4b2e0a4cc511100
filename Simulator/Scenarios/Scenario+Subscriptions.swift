import ScenarioFormat

/// Subscriptions.
extension Scenario {
  private static let month = "basic.monthly"
  private static let premium = "premium.monthly"
  private static let subscribe = AppStep.buy(product: month, account: alice)

  static let subscriptions: [Scenario] = [
    Scenario(
      name: "subscription-three-lives", summary: "paid, lapsed, and renewed: one receipt, three answers",
      description: """
        Alice subscribes while the backend is down, and cancels. When the receipt arrives, the month is \
        over: 21006. Then she subscribes again, and the same subscription is active.
        """,
      attacks: "queues that keep a lapsed receipt; backends that never check again",
      proves: ["R1.1", "R1.2", "invariant 22"],
      launches: [
        Launch(before: [.outage()], does: [subscribe, .use(milliseconds: 60)]),
        Launch(
          before: [.renewal(purchase: 1, isOn: false), .days(40), .noFaults], does: [.use(milliseconds: 150)]),
        Launch(does: [subscribe]),
      ], expects: .init(paid: 1, verdicts: ["lapsed": 1])),
    Scenario(
      name: "upgrade", summary: "to the higher plan in the middle of a month: effective at once",
      description: """
        Two weeks into the cheap plan alice takes the expensive one. The store charges at once and ends \
        the old plan.
        """,
      attacks: "apps that use the first period's order for all later ones",
      proves: ["R5.6", "invariant 9"],
      launches: [
        Launch(does: [subscribe]),
        Launch(before: [.days(14), .planChanged(purchase: 1, product: premium)]),
      ], expects: .init(paid: 2)),
    Scenario(
      name: "downgrade", summary: "to the lower plan: effective at the next renewal",
      description:
        "Alice takes the cheap plan while the expensive one runs. Nothing changes until the month is over.",
      attacks: "backends that take the request for a purchase; apps that ask only when they sell",
      proves: ["R5.6", "R3.10"],
      launches: [
        Launch(does: [.buy(product: premium, account: alice)]),
        Launch(
          before: [.planChanged(purchase: 1, product: month), .days(8)], does: [.use(milliseconds: 60)]),
        Launch(before: [.days(31)]),
      ]),
    Scenario(
      name: "billing-retry-recovers", summary: "the bank refuses a renewal for ten days, then pays",
      description:
        "The card has expired. The store retries for days. Alice enters a new card, and the month is paid.",
      attacks: "apps that notice renewals only while they run",
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

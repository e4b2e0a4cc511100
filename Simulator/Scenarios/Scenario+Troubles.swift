import PurchaseSyncTesting
import ScenarioFormat

/// Faults of the queue's head, the network and the clock.
extension Scenario {
  static let troubles: [Scenario] = [
    Scenario(
      name: "poison-at-head", summary: "the backend fails on one transaction; the others pass it",
      description:
        "The backend has a bug and answers 500 to alice's first purchase. Two more wait behind it.",
      attacks: "queues that stop at their head",
      proves: ["invariant 5", "invariant 25"],
      launches: [
        Launch(
          before: [
            .fault(
              .respond, count: nil, status: 500,
              bodyContains: "\"transactionID\":\"2000000000000001\"")
          ], does: [buyGems, buyCoins, buyCoins, .use(milliseconds: 2_400)], granted: 2),
        Launch(before: [.noFaults]),
      ], expects: .init(paid: 3), timeScale: 5_000),
    Scenario(
      name: "queue-full", summary: "more purchases than the queue can hold, in an outage",
      description: "Five purchases, space for two. The rest stays with the store until there is space.",
      attacks: "queues that drop the oldest or the newest entry when they are full",
      proves: ["R5.5", "invariant 7"],
      launches: [
        Launch(
          before: [.outage(), .boughtOutside(product: gems, storeAccount: storeAccount, count: 5)],
          does: [.use(milliseconds: 100)]), Launch(before: [.noFaults]),
      ], expects: .init(paid: 5), entries: 2, timeScale: 5_000),
    Scenario(
      name: "captive-portal", summary: "a hotel's sign-in page answers, with 200 and with 403",
      description: """
        A hotel's network answers each request to the backend with its sign-in page, also with status 200. Alice pays, \
        signs in after twelve minutes, and the system says that there is a network.
        """,
      attacks: "apps for which 200 means done",
      proves: ["R5.2", "invariant 3", "invariant 40"],
      launches: [Launch(does: [.meetPortal, buyGems, .use(milliseconds: 700), .goOnline])],
      expects: .init(paid: 1), makesOrders: true),
    Scenario(
      name: "man-in-the-middle", summary: "another server answers 'granted' in the backend's place",
      description: """
        A proxy that the phone trusts answers alice's first two uploads itself: granted. The backend knows nothing of \
        them.
        """,
      attacks: "apps that believe every answer that TLS lets pass",
      proves: ["R5.2", "invariant 3"],
      launches: [
        Launch(
          before: [
            .faults([
              .init(
                path: uploads, count: 2, fault: .respond, status: 200,
                body: FaultPlan.forgedReply(transactionID: "2000000000000001"))
            ])
          ], does: [buyGems])
      ], expects: .init(paid: 1), signsReplies: true),
    Scenario(
      name: "clock-jump", summary: "told to wait a day; the clock goes back a year, and forward by two",
      description: """
        The backend asks the app to wait for a day. Alice sets her clock back to cheat in a game, and \
        forward again.
        """,
      attacks: "apps whose timers depend on the clock",
      proves: ["invariant 15", "invariant 17"],
      launches: [
        Launch(
          before: [.fault(.respond, status: 429, retryAfter: 86_400)],
          does: [
            buyGems, .use(milliseconds: 50), .jumpClock(milliseconds: -365 * day), .use(milliseconds: 50),
            .jumpClock(milliseconds: 730 * day),
          ])
      ], expects: .init(paid: 1)),
    Scenario(
      name: "month-offline", summary: "a month without the backend, opened now and then",
      description: "For a month alice has a network that reaches the store and not the backend.",
      attacks: "apps that give up after so many attempts, or so many days",
      proves: ["R5.3", "invariant 24"],
      launches: [
        Launch(before: [.outage()], does: [buyGems, .use(milliseconds: 60)]),
        Launch(
          before: [.days(10), .fault(.dropBeforeCommit, at: "/v1", count: nil)],
          does: [.use(milliseconds: 60)]),
        Launch(before: [.days(10)], does: [.use(milliseconds: 60)]),
        Launch(before: [.days(10), .noFaults]),
      ], expects: .init(paid: 1)),
  ]
}

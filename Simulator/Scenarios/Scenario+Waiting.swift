import PurchaseSyncTesting
import ScenarioFormat

/// A person pays where the network ends, and waits for what they paid. Clocks go a thousand times faster, so that 700 ms are
/// twelve minutes.
extension Scenario {
  /// Twelve minutes in the app.
  private static let inTheLift = AppStep.use(milliseconds: 700)
  /// Paid in a lift, and not delivered.
  private static let paidInTheLift = [.goOffline, buyGems, inTheLift]

  private static func lift(
    _ name: String, _ summary: String, _ description: String, attacks: String, proves: [String],
    _ launches: Launch..., paid: Int = 1
  ) -> Scenario {
    Scenario(
      name: "lift-" + name, summary: summary, description: description, attacks: attacks, proves: proves,
      launches: launches, expects: .init(paid: paid), makesOrders: true)
  }

  static let waiting: [Scenario] = [
    lift(
      "then-network", "paid in a lift; twelve minutes later the network is back",
      """
      Alice pays, and the network is gone before the upload. Each attempt of twelve minutes fails. The system says that \
      the network is back: her gems come within seconds.
      """,
      attacks: "backoff that is not ended by the network", proves: ["invariant 40"],
      Launch(does: paidInTheLift + [.goOnline])),
    lift(
      "then-ten-taps", "the same, and alice taps 'try again' ten times",
      "Ten taps send what the network holds at once, and do not send it ten times.",
      attacks: "apps that wait although somebody asks; taps that become a load",
      proves: ["invariant 40", "invariant 42"], Launch(does: paidInTheLift + [.goOnline, .tap(count: 10)])),
    lift(
      "app-closed", "paid in a lift, the app is closed there and opened outside",
      "The backoff of the first launch does not hold up the second one.",
      attacks: "stored delays that outlive their reason", proves: ["invariant 40"],
      Launch(does: paidInTheLift), .opened),
    lift(
      "clock-year", "without a network, the clock jumps a year ahead and back",
      """
      A delay that was computed by the wrong clock would end in a year. A wait is a length, and not a moment to be \
      believed.
      """,
      attacks: "moments in the future that are kept after the clock was corrected",
      proves: ["invariant 15", "invariant 40"],
      Launch(
        does: [
          .goOffline, buyGems, .use(milliseconds: 100), .jumpClock(milliseconds: 365 * day),
          .use(milliseconds: 200), .jumpClock(milliseconds: -365 * day), .use(milliseconds: 400), .goOnline,
        ])),
    lift(
      "two-people", "alice and bob pay in a lift; the network is back for both",
      "Each account has a lane with a delay of its own, and the network ends both.",
      attacks: "wakes that reach only the account that is signed in",
      proves: ["invariant 6", "invariant 40"],
      Launch(
        does: [.goOffline, buyGems, .buy(product: coins, account: "bob"), inTheLift, .goOnline]), paid: 2),
    Scenario(
      name: "gateway-down", summary: "a gateway answers 502 for twelve minutes; the app is opened again",
      description: "A 502 says nothing about what is in the request: it is no fault of the purchase.",
      attacks: "queues that put a purchase aside because the backend was away",
      proves: ["invariant 25", "invariant 40"],
      launches: [
        Launch(before: [.fault(.respond, count: nil, status: 502)], does: [buyGems, inTheLift]),
        Launch(before: [.noFaults]),
      ], expects: .init(paid: 1)),
  ]
}

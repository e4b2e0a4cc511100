import ScenarioFormat

/// The scenarios of the matrix: the first launch leaves something unsent, the second one is killed.
extension Scenario {
  static let matrix: [Scenario] = [
    Scenario(
      name: "purchases", summary: "one purchase is unsent, two more are made",
      launches: [
        Launch(before: [.outage()], does: [buyGems, .use(milliseconds: 40)]),
        Launch(does: [buyGems, buyCoins]),
      ], expects: .init(paid: 3)),
    Scenario(
      name: "restored", summary: "two unsent purchases come back from the keychain, one more is made",
      launches: [
        Launch(before: [.outage()], does: [buyGems, buyCoins, .use(milliseconds: 40)], reinstalled: true),
        Launch(does: [buyGems]),
      ], expects: .init(paid: 3)),
    Scenario(
      name: "device-lane", summary: "bought without an account, then adopted",
      launches: [
        Launch(
          before: [.outage()], signedIn: [], does: [.buyWithoutOrder(product: gems), .use(milliseconds: 40)]),
        Launch(
          signedIn: [],
          does: [.buyWithoutOrder(product: coins), .signIn(account: alice), .adopt(account: alice), buyGems]),
      ], expects: .init(paid: 3)),
    Scenario(
      name: "receipts", summary: "the old interface: one app receipt is the proof of all, without tokens",
      launches: [
        Launch(
          before: [.delivery(proofs: ["appReceipt"], forgetsToken: true), .outage()],
          does: [buyGems, .use(milliseconds: 40)]), Launch(does: [buyCoins, buyGems]),
      ], expects: .init(paid: 3)),
    Scenario(
      name: "update", summary: "the file has an earlier version, one more purchase is made",
      launches: [
        Launch(before: [.outage()], does: [buyGems, .use(milliseconds: 40)]),
        Launch(before: [.earlierVersion], does: [buyCoins]),
      ], expects: .init(paid: 2)),
    Scenario(
      name: "second-device",
      summary: "unsent on alice's phone, and heard by her second one, which buys too",
      launches: [
        Launch(before: [.outage()], does: [buyGems, .use(milliseconds: 40)]),
        Launch(before: [.noFaults], signedIn: [alice], does: [buyCoins], phone: "pad"),
      ], expects: .init(paid: 2)),
  ]
}

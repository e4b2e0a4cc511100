import ScenarioFormat

/// Changes of the Apple ID or the app's account, and purchases before sign-in.
extension Scenario {
  static let accounts: [Scenario] = [
    Scenario(
      name: "store-account-switch",
      summary: "another Apple ID signs in before the upload; the first one comes back",
      description: """
        Alice pays, and signs in with another Apple ID. The receipt on the phone is then that of the other \
        one.
        """,
      attacks: "apps that read the receipt again when they need it",
      proves: ["R5.4", "invariant 23"],
      launches: [
        Launch(
          before: [.outage(3)], does: [buyGems, .useStoreAccount("apple-2"), .use(milliseconds: 100)]),
        Launch(does: [buyCoins]), Launch(does: [.useStoreAccount("apple-1")]),
      ], expects: .init(paid: 2)),
    Scenario(
      name: "app-account-switch", summary: "alice pays and signs out, bob signs in and pays",
      description:
        "Alice's receipt is unsent when bob signs in. Each purchase has to be granted to its buyer.",
      attacks: "apps that upload under the account that is signed in now",
      proves: ["R4.5", "invariant 6"],
      launches: [
        Launch(
          before: [.delivery(proofs: ["appReceipt"], forgetsToken: true), .outage(2)], signedIn: [alice],
          does: [
            buyGems, .signOut(account: alice), .signIn(account: "bob"),
            .buy(product: gems, account: "bob"), .use(milliseconds: 100),
          ]),
        Launch(signedIn: ["bob"], does: [.use(milliseconds: 60)]), Launch(signedIn: [alice]),
      ], expects: .init(paid: 2)),
    Scenario(
      name: "purchase-before-sign-in", summary: "bought before sign-in; alice adopts the purchase later",
      description:
        "The shop sells without an account. The purchase belongs to the device until alice adopts it.",
      attacks: "apps that send nothing, or send a purchase without an owner under the next account",
      proves: ["R3.2", "invariant 6"],
      launches: [
        Launch(
          before: [.outage(2)], signedIn: [], does: [.buyWithoutOrder(product: gems), .use(milliseconds: 80)]),
        Launch(signedIn: [], does: [.signIn(account: alice), .adopt(account: alice)]),
      ], expects: .init(paid: 1)),
    Scenario(
      name: "extension-and-app",
      summary: "an extension of the app buys at the same time, from the same files",
      description: "The app and its extension are two processes on one queue. Both sell, and both send.",
      attacks: "apps that rewrite a list while another process rewrites it",
      proves: ["invariant 14", "invariant 18"],
      launches: [
        Launch(
          before: [.outage(2)], does: [buyGems, buyGems, buyGems], extension: [buyCoins, buyCoins, buyCoins])
      ], expects: .init(paid: 6)),
  ]
}

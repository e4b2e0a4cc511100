/// People who change: the Apple ID, the app's account, or nobody yet.
extension Scenario {
  static let accounts: [Scenario] = [
    Scenario(
      name: "store-account-switch",
      summary: "another Apple ID signs in before the upload; the first comes back",
      story: "Alice pays, and signs in with another Apple ID: the receipt on the phone is not hers any more.",
      attacks: "apps that read the receipt again when they need it",
      proves: ["R5.4", "invariant 23"],
      launches: [
        Launch(
          before: [.outage(3)], does: [buyGems, .useStoreAccount("apple-2"), .use(milliseconds: 100)]),
        Launch(does: [buyCoins, .use(milliseconds: 100)]), Launch(does: [.useStoreAccount("apple-1")]),
      ], expects: .init(paid: 2)),
    Scenario(
      name: "app-account-switch", summary: "alice pays and signs out, bob signs in and pays",
      story: "Her receipt is unsent when he signs in. Each is to get what is theirs.",
      attacks: "apps that upload under whoever is signed in now",
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
      name: "purchase-before-sign-in", summary: "bought before anybody was signed in; alice claims it later",
      story: "The shop sells without an account. What was bought is the device's until alice takes it.",
      attacks: "apps that send nothing, or send nobody's purchase for the next best account",
      proves: ["R3.2", "invariant 6"],
      launches: [
        Launch(
          before: [.outage(2)], signedIn: [], does: [.buyWithoutOrder(product: gems), .use(milliseconds: 80)]),
        Launch(signedIn: [], does: [.signIn(account: alice), .claim(account: alice)]),
      ], expects: .init(paid: 1)),
    Scenario(
      name: "extension-and-app",
      summary: "an extension of the app buys at the same time, from the same files",
      story: "The app and its extension are two processes on one queue. Both sell, and both send.",
      attacks: "apps that rewrite a list that another process is rewriting",
      proves: ["invariant 14", "invariant 18"],
      launches: [
        Launch(
          before: [.outage(2)], does: [buyGems, buyGems, buyGems], extension: [buyCoins, buyCoins, buyCoins])
      ], expects: .init(paid: 6)),
  ]
}

import PurchaseSyncTesting

/// People who change: the Apple ID, the app's account, or nobody yet.
extension Scenario {
  static let accounts: [Scenario] = [
    Scenario(
      name: "store-account-switch",
      summary: "another Apple ID signs in before the upload; the first one comes back later",
      launches: [
        Launch(steps: [
          .buy(product: gems, account: "alice"), .useStoreAccount("apple-2"), .use(milliseconds: 200),
        ]),
        Launch(steps: [.buy(product: coins, account: "alice"), .use(milliseconds: 200)]),
        Launch(steps: [.useStoreAccount("apple-1")]),
      ],
      faults: { .outage(path: uploads, requests: 3) }),
    Scenario(
      name: "app-account-switch",
      summary: "alice pays and signs out, bob signs in and pays: each gets what is theirs",
      launches: [
        Launch(
          steps: [
            .buy(product: gems, account: "alice"), .signOut(account: "alice"), .signIn(account: "bob"),
            .buy(product: gems, account: "bob"), .use(milliseconds: 200),
          ], signedIn: ["alice"]),
        Launch(steps: [.use(milliseconds: 100)], signedIn: ["bob"]),
        Launch(signedIn: ["alice"]),
      ],
      faults: { .outage(path: uploads, requests: 2) }),
    Scenario(
      name: "purchase-before-sign-in",
      summary: "bought before anybody was signed in; alice claims it later",
      launches: [
        Launch(steps: [.buyWithoutOrder(product: gems), .use(milliseconds: 100)], signedIn: []),
        Launch(steps: [.signIn(account: "alice"), .claim(account: "alice")], signedIn: []),
      ],
      faults: { .outage(path: uploads, requests: 2) }),
  ]
}

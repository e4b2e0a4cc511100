import PurchaseSync
import PurchaseSyncTesting
import ScenarioFormat

/// Whose purchase it is: bought again, delivered to another device, restored, without a token, from a copied backup.
extension Scenario {
  private static let month = "basic.monthly"
  private static let subscribe = AppStep.buy(product: month, account: alice)
  private static let lapsed: [EnvironmentStep] = [.renewal(purchase: 1, isOn: false), .days(45)]
  /// The second device of a person.
  private static let pad = "pad"
  /// Each person learns of purchases of her own only.
  private static func allYours(_ paid: Int, told: Int) -> Expectation {
    Expectation(paid: paid, owners: ["yours": told, "another": 0], ofDevices: 0)
  }

  static let ownership: [Scenario] = [
    Scenario(
      name: "resubscribe-by-another",
      summary: "alice's plan lapsed; bob, on the same Apple ID, buys it with his order",
      description: """
        The store keeps the original transaction id of alice's first month. Bob's payment has the token of \
        his own order. (StoreKit: originalID of a resubscription; probe P19)
        """,
      attacks: "backends that give each transaction to the owner of its original",
      proves: ["R4.5", "invariant 6"],
      launches: [
        Launch(signedIn: [alice], does: [subscribe]),
        Launch(before: lapsed, signedIn: ["bob"], does: [.buy(product: month, account: "bob")]),
      ], expects: allYours(2, told: 2)),
    Scenario(
      name: "resubscribe-own-order", summary: "alice's plan lapsed; she buys it again with a new order",
      description: "Her second order must be fulfilled, on the phone and at the backend. (Probe P19b)",
      attacks: "backends that fulfil no order with a later transaction of a chain",
      proves: ["R4.5", "invariant 9"],
      launches: [
        Launch(signedIn: [alice], does: [subscribe]),
        Launch(before: lapsed + [.fault(.dropAfterCommit)], signedIn: [alice], does: [subscribe]),
      ], expects: allYours(2, told: 3)),
    Scenario(
      name: "renewal-on-second-device", summary: "alice's renewal arrives on her second device first",
      description: """
        Alice subscribed on her phone. A month later only her pad is in use, and the store tells it of the \
        renewal (Transaction.updates emits transactions of other devices).
        """,
      attacks: "apps that say 'belongs to another account' to its owner",
      proves: ["R4.5", "invariant 6"],
      launches: [
        Launch(signedIn: [alice], does: [subscribe]),
        Launch(before: [.days(31)], signedIn: [alice], phone: pad), Launch(signedIn: [alice]),
      ], expects: allYours(2, told: 2)),
    Scenario(
      name: "approval-on-second-device", summary: "Ask to Buy: approved days later, heard on another device",
      description: "Alice asked on her phone. Her father approves, and her pad gets the transaction.",
      attacks: "apps that know only the orders of their own device",
      proves: ["R4.5", "invariant 1"],
      launches: [
        Launch(
          before: [.payment(storeAccount: storeAccount, asksToBuy: true, interruptions: 0)],
          signedIn: [alice], does: [buyGems, .use(milliseconds: 40)]),
        Launch(before: [.days(2), .approved], signedIn: [alice], phone: pad), Launch(signedIn: [alice]),
      ], expects: allYours(1, told: 1)),
    Scenario(
      name: "family-phone", summary: "alice's purchase arrives on a phone on which bob is signed in",
      description: """
        Both phones use one Apple ID. Alice pays and her app dies. Bob's phone hears of it: she gets it, it \
        is finished, and bob is told no name.
        """,
      attacks: "apps that grant to the account that is signed in, or ask it about a stranger's purchase",
      proves: ["R4.5", "invariant 6"],
      launches: [
        .purchase(killed: .afterPayment), Launch(signedIn: ["bob"], phone: pad), Launch(signedIn: [alice]),
      ], expects: .init(paid: 1, owners: ["another": 1, "yours": 0], ofDevices: 0)),
    Scenario(
      name: "restore-on-new-phone", summary: "alice restores what she owns on a new phone",
      description: "The receipt has no tokens, and the orders are on the old phone.",
      attacks: "apps that say 'belongs to another account' after a restore",
      proves: ["R4.5", "R5.4"],
      launches: [
        Launch(
          signedIn: [alice],
          does: [.buy(product: "unlock", account: alice), .buy(product: "season", account: alice)]),
        Launch(signedIn: [alice], does: [.restore], phone: "new"),
      ], expects: allYours(2, told: 4)),
    Scenario(
      name: "restore-before-sign-in", summary: "restored before the sign-in, and once more after it",
      description: "No account is signed in at the first tap. After the sign-in the same purchase is hers.",
      attacks: "apps that remember the first answer",
      proves: ["R4.5", "invariant 6"],
      launches: [
        Launch(signedIn: [alice], does: [.buy(product: "unlock", account: alice)]),
        Launch(signedIn: [], does: [.restore], phone: "new"),
        Launch(signedIn: [], does: [.signIn(account: alice), .restore], phone: "new"),
      ], expects: .init(paid: 1, owners: ["another": 1, "yours": 2])),
    Scenario(
      name: "restore-more-than-limit", summary: "twelve owned products, a queue for four, one tap",
      description: "What does not fit is taken over as soon as there is capacity. (Probes P6, P6b)",
      attacks: "queues that drop what does not fit, and need a second tap",
      proves: ["R5.5", "invariant 7"],
      launches: [
        Launch(
          before: [.boughtOutside(product: "season", storeAccount: storeAccount, count: 12)],
          signedIn: [alice], does: [.adopt(account: alice)]),
        Launch(signedIn: [alice], does: [.restore], phone: "new"),
      ], expects: .init(paid: 12, owners: ["yours": 12]), entries: 4),
    Scenario(
      name: "offer-code-without-token", summary: "an offer code, for the account that is signed in",
      description: "It has no token and no order. The app has chosen the policy signedInAccount.",
      attacks: "backends that leave such purchases without an owner",
      proves: ["R3.2", "invariant 6"],
      launches: [
        Launch(
          before: [.boughtOutside(product: gems, storeAccount: storeAccount, count: 1)], signedIn: [alice])
      ], expects: allYours(1, told: 1), unclaimed: .signedInAccount),
    Scenario(
      name: "cloned-backup", summary: "mother's backup on the child's phone; then mother adopts",
      description: """
        The file has the name of mother's phone, the child's keychain has none. What the child buys must \
        not go to mother when she adopts the purchases of her phone. (Probe P13)
        """,
      attacks: "device names that lie in a backed-up file",
      proves: ["R3.2", "invariant 6"],
      launches: [
        Launch(signedIn: [], does: [.buyWithoutOrder(product: gems)]),
        Launch(
          before: [.phoneCloned(to: "child")], signedIn: [],
          does: [.useStoreAccount("apple-2"), .buyWithoutOrder(product: coins)], phone: "child"),
        Launch(signedIn: [], does: [.signIn(account: alice), .adopt(account: alice)]),
      ], expects: .init(paid: 2, ofDevices: 1)),
  ]
}

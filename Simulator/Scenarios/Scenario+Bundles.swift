import PurchaseSyncTesting
import ScenarioFormat

/// Bundles of subscriptions: one payment, one order, and a transaction for each subscription of this app.
extension Scenario {
  private static let buyBundle = AppStep.buy(product: "plus.monthly", account: alice)
  private static let credited = Expectation(paid: 2, orders: ["delivered": 1], ofDevices: 0)

  static let bundles: [Scenario] = [
    Scenario(
      name: "bundle-token-on-all",
      summary: "a bundle bought while the backend is down; a kill after the payment",
      description: """
        Alice buys a bundle. The store makes a transaction for each of two subscriptions, both with the token of her \
        order, which names the bundle. Each is hers, and the order is delivered once.
        """,
      attacks: "apps and backends that compare the product of an order with that of its transaction",
      proves: ["R4.5", "invariant 2", "invariant 44"],
      launches: [
        Launch(before: [.outage()], signedIn: [alice], does: [buyBundle], killed: .afterPayment),
        Launch(before: [.noFaults], signedIn: [alice]),
      ], expects: credited),
    Scenario(
      name: "bundle-token-on-one", summary: "one transaction of a bundle has the token, the other none",
      description: """
        The sheet returns the transaction with the token. The other one comes at the next launch, when alice has \
        signed out: it is hers, because it is of the same payment.
        """,
      attacks: "backends that give what has no token to the device, or to who is signed in",
      proves: ["R4.5", "invariant 6", "invariant 44"],
      launches: [
        Launch(
          before: [.bundle(.tokens(.first))], signedIn: [alice], does: [buyBundle, .use(milliseconds: 60)]),
        Launch(signedIn: [alice], does: [.signOut(account: alice)]), Launch(signedIn: [alice]),
      ], expects: credited),
    Scenario(
      name: "bundle-without-tokens", summary: "no transaction of a bundle has the token of its order",
      description:
        "The order is found by the sheet or by the times, and the second subscription by the payment.",
      attacks: "apps that take a signed transaction without a token for bought outside of the app",
      proves: ["R4.5", "invariant 9", "invariant 44"],
      launches: [
        Launch(
          before: [.bundle(.tokens(.none))], signedIn: [alice], does: [buyBundle], killed: .afterPayment),
        Launch(signedIn: [alice]),
      ], expects: credited),
    Scenario(
      name: "upgraded-to-a-bundle", summary: "a subscription is replaced by a bundle that contains it",
      description: """
        Alice has a month. After ten days she buys a bundle: the store revokes the month with the reason \
        upgradedToBundle. It is no refund, and the bundle gives her the same and more.
        """,
      attacks: "backends that take each revocation date for a refund; apps that say 'refunded'",
      proves: ["R3.8", "invariant 22", "invariant 44"],
      launches: [
        Launch(signedIn: [alice], does: [.buy(product: "basic.monthly", account: alice)]),
        Launch(before: [.days(10)], signedIn: [alice], does: [buyBundle]), Launch(signedIn: [alice]),
      ], expects: .init(paid: 3, verdicts: ["refunded": 0], orders: ["delivered": 2], ofDevices: 0)),
    Scenario(
      name: "left-a-bundle", summary: "one subscription renews alone, the other ends unbundled",
      description:
        "After twenty days alice leaves the bundle. One subscription she keeps, and pays for it alone.",
      attacks: "backends that know a subscription only as a part of its bundle",
      proves: ["R3.4", "R5.6", "invariant 44"],
      launches: [
        Launch(signedIn: [alice], does: [buyBundle]),
        Launch(
          before: [
            .days(20), .bundle(.left(purchase: 1, keeps: true)), .bundle(.left(purchase: 2, keeps: false)),
            .days(11),
          ], signedIn: [alice]),
      ], expects: .init(paid: 3, orders: ["delivered": 1], ofDevices: 0)),
    Scenario(
      name: "bundle-of-another-app",
      summary: "another app sells a bundle with a product that nobody here knows",
      description: """
        The app never sold it, and has no order. It is credited to the device, finished, and alice adopts it when she \
        signs in. Nothing waits in quarantine.
        """,
      attacks: "backends that reject a product that is not in their table",
      proves: ["R4.5", "invariant 1", "invariant 25"],
      launches: [
        Launch(
          before: [.bundle(.elsewhere(members: ["unheard.monthly"], storeAccount: storeAccount)), .outage()],
          does: [.use(milliseconds: 60)]),
        Launch(before: [.noFaults]), Launch(signedIn: [alice], does: [.adopt(account: alice)]),
      ], expects: .init(paid: 1, orders: [:])),
  ]
}

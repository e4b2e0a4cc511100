import PurchaseSyncTesting
import ScenarioFormat

/// What the store did to apps in the field in 2026.
extension Scenario {
  private static let buyPlan = AppStep.buy(product: "basic.monthly", account: alice)

  static let field: [Scenario] = [
    Scenario(
      name: "chain-ends-in-front", summary: "the backend asks for a newer proof, and the app stays open",
      description: """
        The backend judges certificates as of now, and the proof's have expired. It answers unknownTransaction. The app \
        is not opened again: it sends the transaction as the store signs it now.
        """,
      attacks: "queues that send the same proof again and again; apps that look for a proof only at launch",
      proves: ["R5.3", "invariant 1", "invariant 11"],
      launches: [
        Launch(
          before: [
            .fault(
              .respond, status: 200,
              body:
                #"{"ledgerEpoch":"a","verdicts":[{"environment":"Production","transactionID":"2000000000000001","#
                + #""verdict":"unknownTransaction","reason":"INVALID_CHAIN"}]}"#)
          ], does: [buyGems], granted: 1)
      ], expects: .init(paid: 1, orders: ["delivered": 1])),
    Scenario(
      name: "over-answers-the-sheet",
      summary: "each payment of a plan gives the month that is over, and charges nothing",
      description: """
        Alice's month ends while the backend is down. She subscribes twice more: the store answers both with the month \
        that is over and unfinished (purchases-ios#6374). When the backend is back, she pays.
        """,
      attacks: "apps that grant what the sheet returns; apps that finish without a verdict",
      proves: ["R1.2", "R4.5", "invariant 22"],
      launches: [
        Launch(before: [.repeatsTransactions, .outage()], does: [buyPlan, .use(milliseconds: 60)]),
        Launch(
          before: [.renewal(purchase: 1, isOn: false), .days(40)],
          does: [buyPlan, .use(milliseconds: 60), buyPlan, .use(milliseconds: 60)]),
        Launch(before: [.noFaults]),
        Launch(does: [buyPlan]),
      ], expects: .init(paid: 1, verdicts: ["lapsed": 1])),
    Scenario(
      name: "cancelled-within-commitment", summary: "a year paid monthly is cancelled in its first month",
      description: """
        Alice takes a year that is paid monthly, and cancels after ten days. The store charges eleven more months and \
        ends the subscription then.
        """,
      attacks: "backends that end a subscription when its renewal is turned off",
      proves: ["R2.6", "R3.10", "invariant 2"],
      launches: [
        Launch(does: [.buy(product: "club.monthly", account: alice)]),
        Launch(before: [.days(10), .renewal(purchase: 1, isOn: false), .days(25)]),
        Launch(before: [.days(60)]), Launch(before: [.days(400)]),
      ], expects: .init(paid: 12)),
    Scenario(
      name: "consent-rescinded", summary: "a parent withdraws the consent with a purchase unsent",
      description: """
        The gems are delivered; the coins wait for the backend when a parent no longer lets the child use the app. The \
        notification takes nothing back. After a new consent the app is opened once more, and sends the coins.
        """,
      attacks: "backends that delete a person with all that was paid, or refuse what comes later",
      proves: ["R2.7", "invariant 1", "invariant 2"],
      launches: [
        Launch(does: [buyGems]),
        Launch(before: [.outage()], does: [buyCoins, .use(milliseconds: 60)]),
        Launch(before: [.consentRescinded(storeAccount: storeAccount), .days(3), .noFaults]),
      ], expects: .init(paid: 2, orders: ["delivered": 2])),
    Scenario(
      name: "promoted-while-signed-out",
      summary: "begun in the store while no account is signed in, paid after it",
      description: """
        Alice taps the gems on the store's page. In the app she has to sign in first, and is killed at that. The store \
        still has her wish at the next launch: she signs in, and pays.
        """,
      attacks: "apps that drop what was begun in the store if there is no account for it",
      proves: ["R4.5", "invariant 1"],
      launches: [
        Launch(
          before: [.promoted(product: gems, storeAccount: storeAccount)], signedIn: [],
          does: [.use(milliseconds: 40)]),
        Launch(
          signedIn: [], does: [.signIn(account: alice), .buyPromoted(account: alice)], killed: .afterPayment),
        Launch(signedIn: [alice]),
      ], expects: .init(paid: 1, orders: ["delivered": 1])),
  ]
}

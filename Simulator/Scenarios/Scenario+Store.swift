import AppStoreReceipts
import PurchaseSyncTesting
import ScenarioFormat

/// Purchases that wait for an approval, start in the store, are revoked, or arrive in unusual numbers.
extension Scenario {
  static let storeEvents: [Scenario] = [
    Scenario(
      name: "ask-to-buy-approved-while-dead",
      summary: "a parent approves days later, while the app does not run",
      description:
        "Alice is a child. The store tells the app to wait; two days later her father approves on his phone.",
      attacks: "apps that listen for purchases only while they sell",
      proves: ["R4.5", "invariant 1"],
      launches: [
        Launch(
          before: [.payment(storeAccount: storeAccount, asksToBuy: true, interruptions: 0)],
          does: [buyGems, .use(milliseconds: 40)]), Launch(before: [.days(2), .approved]),
      ], expects: .init(paid: 1)),
    Scenario(
      name: "interrupted-purchase",
      summary: "the store asks for new terms first; the purchase goes through later",
      description: """
        The store tells the app that the purchase failed. Alice accepts the terms in the settings, and is \
        charged.
        """,
      attacks: "apps that discard the order when the payment sheet reports a failure",
      proves: ["R4.5", "invariant 1"],
      launches: [
        Launch(
          before: [.payment(storeAccount: storeAccount, asksToBuy: false, interruptions: 1)],
          does: [buyGems, .use(milliseconds: 40)]), Launch(before: [.approved]),
      ], expects: .init(paid: 1)),
    Scenario(
      name: "promoted-purchase", summary: "started on the app's page in the store, paid in the app, killed",
      description:
        "Alice taps the gems on the store's page. The app opens, makes the order, pays, and is killed.",
      attacks: "apps that know only purchases from their own shop",
      proves: ["R4.5", "invariant 1"],
      launches: [
        Launch(
          before: [.promoted(product: gems, storeAccount: storeAccount)],
          does: [.buyPromoted(account: alice)], killed: .afterPayment)
      ], expects: .init(paid: 1)),
    Scenario(
      name: "refund-before-upload", summary: "refunded while its receipt was still unsent",
      description:
        "Two purchases wait for the backend. The first is refunded. It must not hold up the second.",
      attacks: "queues whose head can never be delivered; backends that grant a refunded purchase",
      proves: ["R3.8", "invariant 22"],
      launches: [
        Launch(before: [.outage()], does: [buyGems, buyCoins, .use(milliseconds: 60)]),
        Launch(before: [.refunded(purchase: 1), .noFaults]),
      ], expects: .init(paid: 1, verdicts: ["refunded": 1])),
    Scenario(
      name: "family-revoke", summary: "shared by the family, revoked before the upload, then a purchase",
      description: """
        Alice's family bought an unlock that she shares. She leaves the family before her phone has sent \
        it. Then she buys gems, and her mother signs in on the phone.
        """,
      attacks: "queues whose head can never be delivered; apps that take every transaction for a purchase",
      proves: ["invariant 22", "invariant 1"],
      launches: [
        Launch(
          before: [
            .storeAccount("apple-2"), .family(storeAccount: "apple-1", members: ["apple-2"]),
            .boughtOutside(product: "unlock.family", storeAccount: "apple-1", count: 1), .outage(),
          ], does: [.use(milliseconds: 60)]),
        Launch(
          before: [.family(storeAccount: "apple-1", members: []), .noFaults],
          does: [buyGems, .use(milliseconds: 120)]),
        Launch(before: [.storeAccount("apple-1")]),
      ], expects: .init(paid: 2)),
    Scenario(
      name: "redelivery-storm", summary: "the store delivers a thousand old purchases at one launch",
      description:
        "A thousand offer codes were redeemed before the first launch. The queue has space for 64.",
      attacks: "apps that start a thousand uploads; queues that drop what does not fit",
      proves: ["R5.5", "invariant 7", "invariant 18"],
      launches: [
        Launch(before: [.boughtOutside(product: gems, storeAccount: storeAccount, count: 1_000)])
      ], expects: .init(paid: 1_000), seconds: 30),
    Scenario(
      name: "finish-fails", summary: "the store refuses the finish three times",
      description: "The gems are granted, and the finish fails. It must succeed in the end, with one grant.",
      attacks: "apps that grant again when the store delivers again",
      proves: ["invariant 3", "invariant 23"],
      launches: [
        Launch(before: [.fault(.respond, at: "/store/finish", count: 3, status: 503)], does: [buyGems])
      ], expects: .init(paid: 1)),
    Scenario(
      name: "no-device-comes-back", summary: "killed after the payment; the store's notification is enough",
      description: """
        Alice pays, the app is killed, and the phone gets another Apple ID: no device lists the gems. The \
        backend grants and finishes them by the store's notification. Later she is back and buys coins, \
        which backend and phone both finish.
        """,
      attacks: "backends that hear of a purchase from the app only",
      proves: ["R3.10", "invariant 3"],
      launches: [
        Launch(does: [buyGems], killed: .afterPayment),
        Launch(before: [.days(1), .storeAccount("apple-2")], granted: 1),
        Launch(before: [.storeAccount(storeAccount)], does: [buyCoins]),
      ], expects: .init(paid: 2, orders: ["delivered": 2]), finishesAtStore: true),
    Scenario(
      name: "offer-code-outside-the-app",
      summary: "a code redeemed in the store, for a customer who is known",
      description: """
        Alice bought gems in the app. A month later she redeems a code in the store, without the app. The \
        backend finds whose the customer's purchases are, orders in her name, and gives its token to the \
        store. The app finds the renewal as hers.
        """,
      attacks: "backends that wait for a device to say whose an offer code is",
      proves: ["R3.10", "R4.5"],
      launches: [
        Launch(does: [buyGems]),
        Launch(
          before: [
            .boughtOutside(product: "basic.monthly", storeAccount: storeAccount, count: 1), .days(1),
          ], granted: 2),
        Launch(before: [.days(30)]),
      ], expects: .init(paid: 3, orders: ["delivered": 2], ofDevices: 0), finishesAtStore: true),
    Scenario(
      name: "sandbox-receipt-to-production", summary: "a tester's receipt at the production store: 21007",
      description: """
        The app is in testing. The backend asks the production store, which answers that the receipt is of \
        the sandbox; then it asks the sandbox.
        """,
      attacks: "backends that take 21007 for a forgery",
      proves: ["R1.1", "R4.2"],
      launches: [
        Launch(before: [.delivery(proofs: ["appReceipt"], forgetsToken: false)], does: [buyGems])
      ], expects: .init(paid: 1), environment: .sandbox, verifiesOverHTTP: true),
  ]
}

/// Purchases that the store does not simply make: somebody has to agree, or takes it back.
extension Scenario {
  static let storeStories: [Scenario] = [
    Scenario(
      name: "ask-to-buy-approved-while-dead",
      summary: "a parent agrees days later, while the app does not run",
      story:
        "Alice is a child. The store tells the app to wait; two days later her father agrees on his phone.",
      attacks: "apps that hear of purchases only when they sell",
      proves: ["R4.5", "invariant 1"],
      launches: [
        Launch(
          before: [.payment(storeAccount: storeAccount, asksToBuy: true, interruptions: 0)],
          does: [buyGems, .use(milliseconds: 40)]), Launch(before: [.days(2), .approved]),
      ], expects: .init(paid: 1)),
    Scenario(
      name: "interrupted-purchase",
      summary: "the store asks for new terms first; the purchase goes through later",
      story:
        "The app is told that the purchase failed. Alice agrees to the terms in the settings, and is charged.",
      attacks: "apps that throw the order away when the sheet says no",
      proves: ["R4.5", "invariant 1"],
      launches: [
        Launch(
          before: [.payment(storeAccount: storeAccount, asksToBuy: false, interruptions: 1)],
          does: [buyGems, .use(milliseconds: 40)]), Launch(before: [.approved]),
      ], expects: .init(paid: 1)),
    Scenario(
      name: "promoted-purchase",
      summary: "begun on the app's page in the store, gone on with in the app, killed",
      story: "Alice taps the gems on the store's page. The app opens, makes the order, pays, and dies.",
      attacks: "apps that know only purchases from their own shop",
      proves: ["R4.5", "invariant 1"],
      launches: [
        Launch(
          before: [.promoted(product: gems, storeAccount: storeAccount)],
          does: [.buyPromoted(account: alice)], killed: .afterPayment)
      ], expects: .init(paid: 1)),
    Scenario(
      name: "refund-before-upload", summary: "paid back while its receipt was still unsent",
      story:
        "Two purchases wait for the backend. Alice gets her money back for the first. It must not hold up the other.",
      attacks: "queues whose head can never be delivered; backends that grant what was paid back",
      proves: ["R3.8", "invariant 22"],
      launches: [
        Launch(before: [.outage()], does: [buyGems, buyCoins, .use(milliseconds: 60)]),
        Launch(before: [.refunded(purchase: 1), .noFaults]),
      ], expects: .init(paid: 1, verdicts: ["refunded": 1])),
    Scenario(
      name: "family-revoke", summary: "shared by the family, taken back before the upload, then a purchase",
      story: """
        Alice's family bought an unlock that she shares. Before her phone has sent that, she leaves the family. Then \
        she buys gems, and her mother signs in on the phone.
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
      story:
        "A thousand offer codes were redeemed before the app was ever opened. The queue has room for 64.",
      attacks: "apps that start a thousand uploads, or a queue that drops what does not fit",
      proves: ["R5.5", "invariant 7", "invariant 18"],
      launches: [
        Launch(before: [.boughtOutside(product: gems, storeAccount: storeAccount, count: 1_000)])
      ], expects: .init(paid: 1_000), seconds: 30),
    Scenario(
      name: "finish-fails", summary: "the store refuses to be told that it is done, three times",
      story:
        "The gems are granted, and the store cannot be told. It must be told in the end, and nothing be granted twice.",
      attacks: "apps that grant again what the store delivers again",
      proves: ["invariant 3", "invariant 23"],
      launches: [
        Launch(before: [.fault("respond", at: "/store/finish", count: 3, status: 503)], does: [buyGems])
      ], expects: .init(paid: 1)),
    Scenario(
      name: "sandbox-receipt-to-production", summary: "a tester's receipt at the production store: 21007",
      story:
        "The app is being tested. The backend asks production first, is told that the receipt is the sandbox's, and asks there.",
      attacks: "backends that take 21007 for a forgery",
      proves: ["R1.1", "R4.2"],
      launches: [
        Launch(before: [.delivery(proofs: ["appReceipt"], forgetsToken: false)], does: [buyGems])
      ], expects: .init(paid: 1), isSandbox: true, verifiesOverHTTP: true),
  ]
}

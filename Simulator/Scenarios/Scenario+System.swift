import AppStoreReceipts
import PurchaseSyncTesting
import ScenarioFormat

/// Backlogs, refused tokens, locked keychains and stores that hang, each from a public issue.
extension Scenario {
  static let system: [Scenario] = [
    Scenario(
      name: "token-refused", summary: "the backend refuses the token three times, and no sign-in follows",
      description: """
        The token expired. The app is asked for a newer one at once; the backend refuses that too for a while. The \
        app never tells of a sign-in.
        """,
      attacks: "queues that wait for a sign-in that was never needed; libraries that finish at a 401",
      proves: ["invariant 24", "invariant 36"],
      launches: [
        Launch(before: [.fault(.respond, count: 3, status: 401)], does: [buyGems])
      ], expects: .init(paid: 1), timeScale: 5_000),
    Scenario(
      name: "keychain-locks-midway", summary: "the keychain locks between purchase and upload: -25308",
      description: """
        Alice buys in an outage. The system starts the app before the first unlock; then she buys once more while \
        the keychain is locked (ms-intune-app-sdk-ios#478, purchases-ios#4623).
        """,
      attacks: "apps that take a locked keychain for an empty one",
      proves: ["invariant 1", "invariant 24"],
      launches: [
        Launch(before: [.outage()], does: [buyGems, .use(milliseconds: 60)]),
        Launch(does: [.use(milliseconds: 60)], isVaultLocked: true),
        Launch(before: [.noFaults], does: [buyCoins], isVaultLocked: true), .opened,
      ], expects: .init(paid: 2)),
    Scenario(
      name: "chain-expires-in-queue", summary: "the proof's certificate expired while it was queued",
      description: """
        The backend rejects the queued proof: its chain has expired (app-store-server-library-java#206). At the next \
        launch the store delivers the transaction with a new signature.
        """,
      attacks: "queues for which rejected is final; apps that keep the first proof for ever",
      proves: ["invariant 1", "invariant 11", "invariant 18"],
      launches: [
        Launch(
          before: [
            .fault(
              .respond, status: 200,
              body:
                #"{"ledgerEpoch":"a","verdicts":[{"environment":"Production","transactionID":"2000000000000001","#
                + #""verdict":"rejected","reason":"INVALID_CHAIN"}]}"#)
          ], does: [buyGems, .use(milliseconds: 100)]), .opened,
      ], expects: .init(paid: 1)),
    Scenario(
      name: "store-clock-ahead", summary: "the store's clock is an hour ahead of the phone's",
      description: """
        The phone's clock is an hour behind the store's (app-store-server-library-java#208). The app dies after the \
        payment, and the receipt has no token: only product and time can match the order.
        """,
      attacks: "apps that compare the device's clock with the store's",
      proves: ["invariant 6", "invariant 9"],
      launches: [
        Launch(
          before: [.delivery(proofs: ["appReceipt"], forgetsToken: true)],
          does: [.jumpClock(milliseconds: -3_600_000), buyGems], killed: .afterPayment)
      ], expects: .init(paid: 1)),
    Scenario(
      name: "finish-never-returns", summary: "the store's finish hangs, and others wait behind it",
      description: """
        Three purchases are granted. The call that finishes them does not return (flutter#192400). It is left behind, \
        and each is finished by a call of its own.
        """,
      attacks: "apps whose next purchase waits for a finish; one hung finish that holds up all others",
      proves: ["invariant 23"],
      launches: [
        Launch(
          before: [
            .faults([.init(path: "/store/finish", count: 1, fault: .stall, milliseconds: 3_000)]),
            .boughtOutside(product: gems, storeAccount: storeAccount, count: 3),
          ])
      ], expects: .init(paid: 3), seconds: 30),
    Scenario(
      name: "ids-from-zero", summary: "a test store whose transaction ids begin at 0",
      description: """
        Xcode's test store numbers transactions from 0 (flutter#188276). The first upload fails, and the app is \
        killed with two purchases in its queue.
        """,
      attacks: "code that takes id 0 for none, and ids of one store for those of another",
      proves: ["invariant 1", "invariant 3"],
      launches: [
        Launch(before: [.outage()], does: [buyGems, buyCoins, .use(milliseconds: 60)]),
        Launch(before: [.noFaults]),
      ], expects: .init(paid: 2), environment: .xcode),
    Scenario(
      name: "finished-still-listed", summary: "the store lists a transaction that is finished",
      description: """
        The gems are granted and finished, and the store lists them at each launch all the same \
        (cordova-plugin-purchase#1714). They are finished again, and not uploaded. Alice buys coins.
        """,
      attacks: "apps that grant what the store lists; queues that fill with what is done",
      proves: ["invariant 2", "invariant 23"],
      launches: [
        Launch(before: [.listsFinished(true)], does: [buyGems, .use(milliseconds: 100)], granted: 1),
        Launch(does: [.use(milliseconds: 60)]),
        Launch(does: [buyCoins, .use(milliseconds: 60)], granted: 2),
        Launch(before: [.listsFinished(false)]),
      ], expects: .init(paid: 2)),
    Scenario(
      name: "refund-after-grant", summary: "refunded after the grant, under the same id, then a purchase",
      description: """
        The gems are granted and finished. A week later they are refunded, and the store delivers the transaction \
        again with its revocation (qonversion PR 739). Alice buys coins.
        """,
      attacks: "queues that take a known id for a duplicate; lanes that a refund blocks",
      proves: ["R3.8", "invariant 22"],
      launches: [
        Launch(does: [buyGems]), Launch(before: [.days(7), .refunded(purchase: 1)], does: [buyCoins]),
      ], expects: .init(paid: 1, verdicts: ["refunded": 1])),
    Scenario(
      name: "backlog-with-poison", summary: "sixty purchases; the backend fails on uploads with one of them",
      description: """
        Sixty codes were redeemed in an outage. One transaction makes the backend answer 500 to any upload that \
        holds it. The uploads get smaller until it is alone, and the others pass.
        """,
      attacks: "batches that one bad entry blocks; queues that send a thousand requests to avoid batches",
      proves: ["invariant 5", "invariant 25"],
      launches: [
        Launch(
          before: [
            .fault(
              .respond, count: nil, status: 500, bodyContains: "\"transactionID\":\"2000000000000037\""),
            .boughtOutside(product: gems, storeAccount: storeAccount, count: 60),
          ], does: [.use(milliseconds: 2_400)], granted: 59),
        Launch(before: [.noFaults]),
      ], expects: .init(paid: 60), timeScale: 5_000),
    Scenario(
      name: "backlog-with-refusal", summary: "sixty purchases; the backend refuses uploads with one of them",
      description: """
        Sixty codes were redeemed in an outage. The backend has no price for one of them and answers 422 to any upload \
        that holds it. The one that is refused by itself waits, and its lane goes on with the others.
        """,
      attacks: "queues that stop at a 4xx, and rules that finish every transaction of the upload",
      proves: ["invariant 5", "invariant 25"],
      launches: [
        Launch(
          before: [
            .fault(
              .respond, count: nil, status: 422, bodyContains: "\"transactionID\":\"2000000000000037\""),
            .boughtOutside(product: gems, storeAccount: storeAccount, count: 60),
          ], does: [.use(milliseconds: 2_400)], granted: 59),
        Launch(before: [.noFaults]),
      ], expects: .init(paid: 60), timeScale: 5_000),
    Scenario(
      name: "backend-of-other-version", summary: "the backend speaks another version of the protocol",
      description: """
        After a deployment the backend refuses version 1 of the protocol. It is rolled back, or the app is updated: \
        the next launch sends again.
        """,
      attacks: "libraries that finish at any 4xx",
      proves: ["invariant 1", "invariant 24"],
      launches: [
        Launch(
          before: [
            .fault(
              .respond, count: nil, status: 426,
              body: #"{"type":"protocol","title":"Another version of the protocol","status":426}"#)
          ], does: [buyGems, .use(milliseconds: 60)]),
        Launch(before: [.noFaults]),
      ], expects: .init(paid: 1)),
  ]
}

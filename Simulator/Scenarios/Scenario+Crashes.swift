import PurchaseSyncTesting
import ScenarioFormat

/// One purchase, and a kill of the app or a lost answer.
extension Scenario {
  static let crashes: [Scenario] = [
    Scenario(
      name: "purchase", summary: "pay, upload, granted, finished: nothing goes wrong",
      description:
        "Alice orders gems and pays. The app uploads the receipt, the backend grants, the app finishes.",
      attacks: "nothing: a client that fails here cannot sell",
      proves: ["R5.1", "invariant 3"], launches: [.purchase(killed: nil)], expects: .init(paid: 1)),
    Scenario(
      name: "backend-outage", summary: "the backend answers 503 to the first five uploads",
      description: "Alice pays while the backend restarts. It answers five uploads with 503.",
      attacks: "apps that try once",
      proves: ["R5.2", "R5.3", "invariant 24"],
      launches: [.purchase(killed: nil, before: [.outage(5)])], expects: .init(paid: 1)),
    Scenario(
      name: "reply-lost", summary: "the backend grants, and its answer is lost",
      description: """
        Alice's account has the gems, and the phone does not know. It uploads again, and the backend \
        answers duplicate.
        """,
      attacks: "apps that take a missing answer for a no; backends that grant twice",
      proves: ["R5.2", "invariant 2"],
      launches: [.purchase(killed: nil, before: [.fault(.dropAfterCommit)])],
      expects: .init(paid: 1, verdicts: ["duplicate": 1])),
    Scenario(
      name: "crash-before-payment",
      summary: "killed with an order made and nothing paid; two days later she buys",
      description: """
        The app is killed while the payment sheet is open. The order holds the only free entry. Alice \
        comes back.
        """,
      attacks: "apps that take an order for a purchase, or keep capacity reserved for ever",
      proves: ["R4.5", "invariant 9"],
      launches: [
        .purchase(killed: .beforePayment), Launch(before: [.days(2)], does: [buyGems]),
      ], expects: .init(paid: 1), entries: 1),
    Scenario(
      name: "crash-after-payment", summary: "killed between the charge and the store's callback",
      description: """
        Alice is charged. The system kills the app before the store calls it back. The store delivers \
        again at launch.
        """,
      attacks: "apps that listen to the store only while they sell",
      proves: ["R5.1", "invariant 1"], launches: [.purchase(killed: .afterPayment)], expects: .init(paid: 1)),
    Scenario(
      name: "crash-before-enqueue",
      summary: "killed with the transaction in memory, before anything is written",
      description: "The store has called the app, which is killed before it has written a byte.",
      attacks: "apps that finish first and write later",
      proves: ["invariant 1", "invariant 13"], launches: [.purchase(killed: .beforeEnqueue)],
      expects: .init(paid: 1)),
    Scenario(
      name: "crash-after-enqueue", summary: "killed when the purchase is durable, before the first upload",
      description:
        "Alice closes the app before the first upload. The first request of the next launch is lost.",
      attacks: "apps that keep unsent purchases in memory",
      proves: ["R5.3", "invariant 1", "invariant 12"],
      launches: [.purchase(killed: .afterEnqueue, before: [.fault(.dropBeforeCommit)])],
      expects: .init(paid: 1)),
    Scenario(
      name: "crash-during-upload", summary: "killed while the backend grants, before its answer arrives",
      description: "The backend has the receipt and grants. When it answers, the app does not run.",
      attacks: "apps that record an attempt only when it is over; backends that grant twice",
      proves: ["R5.2", "invariant 2", "invariant 8"], launches: [.purchase(killed: .duringUpload)],
      expects: .init(paid: 1)),
    Scenario(
      name: "crash-after-grant", summary: "killed when the answer arrives, before anything is written",
      description:
        "The answer is in memory when the app is killed. The next upload is answered without a second grant.",
      attacks: "apps that act on an answer before they have written it down",
      proves: ["R5.2", "invariant 2", "invariant 3"], launches: [.purchase(killed: .afterGrant)],
      expects: .init(paid: 1, verdicts: ["duplicate": 1])),
    Scenario(
      name: "crash-after-ack-before-finish",
      summary: "the answer is written; killed before the transaction is finished",
      description: """
        Only the finish at the store is missing. At the next launch the store delivers the transaction \
        again.
        """,
      attacks: "apps that upload, or grant, every transaction that the store delivers again",
      proves: ["invariant 3", "invariant 23"], launches: [.purchase(killed: .beforeFinish)],
      expects: .init(paid: 1)),
    Scenario(
      name: "crash-loop", summary: "killed again and again, one step further each time, until it is done",
      description:
        "The phone has no memory left. Each launch gets one step further, and the app is killed there.",
      attacks: "apps that need one launch without a failure",
      proves: ["R5.3", "invariant 1", "invariant 8"], launches: [.purchase(killed: .againAndAgain)],
      expects: .init(paid: 1)),
  ]

  static let reinstalls: [Scenario] = [
    Scenario(
      name: "reinstall", summary: "killed with an unsent receipt, deleted and installed again",
      description:
        "Alice deletes the app with an unsent receipt and installs it again. Only the keychain is left.",
      attacks: "apps that keep unsent receipts in their own folder",
      proves: ["R5.5", "invariant 1"],
      launches: [
        .purchase(killed: .afterEnqueue, before: [.fault(.dropBeforeCommit)], reinstalled: true)
      ], expects: .init(paid: 1)),
    Scenario(
      name: "reinstall-offline", summary: "deleted and installed again while the backend fails, twice",
      description: """
        The backend answers with errors. Alice pays, deletes the app, installs and opens it, and deletes \
        it again.
        """,
      attacks: "apps that clear unsent purchases of an earlier install",
      proves: ["R5.3", "R5.5"],
      launches: [
        Launch(before: [.outage()], does: [buyGems, .use(milliseconds: 80)], reinstalled: true),
        Launch(does: [.use(milliseconds: 80)], reinstalled: true), Launch(before: [.noFaults]),
      ], expects: .init(paid: 1)),
    Scenario(
      name: "reinstall-then-other-account",
      summary: "installed again, and another person signs in, in the app and to the store",
      description: """
        Alice pays. Before the receipt is sent, bob gets her phone: he deletes and installs the app, and \
        uses his own account and Apple ID. Weeks later alice has the phone again.
        """,
      attacks: "apps that upload under the account that is signed in now",
      proves: ["R5.4", "R5.5", "invariant 6"],
      launches: [
        Launch(
          before: [.delivery(proofs: ["appReceipt"], forgetsToken: true), .outage()], signedIn: [alice],
          does: [buyGems, .use(milliseconds: 60)], reinstalled: true),
        Launch(
          before: [.storeAccount("apple-2"), .noFaults], signedIn: ["bob"],
          does: [.buy(product: coins, account: "bob"), .use(milliseconds: 150)]),
        Launch(before: [.storeAccount("apple-1")], signedIn: [alice]),
      ], expects: .init(paid: 2)),
    Scenario(
      name: "old-backup-restored",
      summary: "the phone's files are restored from a backup; a granted purchase is sent again",
      description: """
        The phone is backed up while a receipt is unsent. That receipt is delivered, and another one. Then \
        the phone is restored: its queue still has the first receipt as unsent, and has no record of the \
        second.
        """,
      attacks: "backends that expect each upload once; apps that finish transactions they do not know",
      proves: ["invariant 21", "invariant 2"],
      launches: [
        Launch(before: [.outage()], does: [buyGems, .use(milliseconds: 60)]),
        Launch(before: [.phoneBackedUp, .noFaults], does: [buyCoins]),
        Launch(before: [.phoneRestored]),
      ], expects: .init(paid: 2, verdicts: ["duplicate": 1])),
  ]
}

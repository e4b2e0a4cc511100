/// One purchase, and an app or an answer that dies.
extension Scenario {
  static let crashes: [Scenario] = [
    Scenario(
      name: "purchase", summary: "pay, upload, granted, finished: nothing goes wrong",
      story: "Alice orders gems and pays. The receipt goes up, the backend grants, the store is told.",
      attacks: "nothing: whoever fails here has no purchases at all",
      proves: ["R5.1", "invariant 3"], launches: [.purchase(killed: nil)], expects: .init(paid: 1)),
    Scenario(
      name: "backend-outage", summary: "the backend answers 503 to the first five uploads",
      story: "Alice pays while the backend is being restarted. Five times there is no answer worth the name.",
      attacks: "apps that try once",
      proves: ["R5.2", "R5.3", "invariant 24"],
      launches: [.purchase(killed: nil, before: [.outage(5)])], expects: .init(paid: 1)),
    Scenario(
      name: "reply-lost", summary: "the backend grants, and its answer is lost",
      story: "The gems are in alice's account, and the phone does not know. It asks again and is told so.",
      attacks: "apps that take no answer for no; backends that grant twice",
      proves: ["R5.2", "invariant 2"],
      launches: [.purchase(killed: nil, before: [.fault("dropAfterCommit")])],
      expects: .init(paid: 1, verdicts: ["duplicate": 1])),
    Scenario(
      name: "crash-before-payment",
      summary: "killed with an order made and nothing paid; two days later she buys",
      story:
        "The order stands, and holds the only room there is, when the app dies over the payment sheet. Alice comes back.",
      attacks: "apps that take an order for a purchase, or leave room reserved for ever",
      proves: ["R4.5", "invariant 9"],
      launches: [
        .purchase(killed: .beforePayment), Launch(before: [.days(2)], does: [buyGems]),
      ], expects: .init(paid: 1), entries: 1),
    Scenario(
      name: "crash-after-payment", summary: "killed between the charge and the store's call back",
      story:
        "Alice is charged. Before the app hears of it, the system kills it. The store delivers again at launch.",
      attacks: "apps that listen to the store only while they sell",
      proves: ["R5.1", "invariant 1"], launches: [.purchase(killed: .afterPayment)], expects: .init(paid: 1)),
    Scenario(
      name: "crash-before-enqueue", summary: "killed with the transaction in hand, before anything is noted",
      story: "The store has called back; the app dies before it has written a byte.",
      attacks: "apps that finish first and note later",
      proves: ["invariant 1", "invariant 13"], launches: [.purchase(killed: .beforeEnqueue)],
      expects: .init(paid: 1)),
    Scenario(
      name: "crash-after-enqueue", summary: "no signal, and killed before it can try again",
      story: "In the underground the first upload is lost. Alice swipes the app away.",
      attacks: "apps that keep what is unsent in memory",
      proves: ["R5.3", "invariant 1", "invariant 12"],
      launches: [.purchase(killed: .afterEnqueue, before: [.fault("dropBeforeCommit")])],
      expects: .init(paid: 1)),
    Scenario(
      name: "crash-during-upload", summary: "killed while the backend grants: nobody is there for its answer",
      story: "The backend has the receipt and grants. When it answers, the app is gone.",
      attacks: "apps that note an attempt only when it is over; backends that grant twice",
      proves: ["R5.2", "invariant 2", "invariant 8"], launches: [.purchase(killed: .duringUpload)],
      expects: .init(paid: 1)),
    Scenario(
      name: "crash-after-grant", summary: "killed when the answer arrives, before anything is written",
      story:
        "The answer is in memory when the app dies. The same upload is answered again, without a second grant.",
      attacks: "apps that believe an answer that they did not write down",
      proves: ["R5.2", "invariant 2", "invariant 3"], launches: [.purchase(killed: .afterGrant)],
      expects: .init(paid: 1, verdicts: ["duplicate": 1])),
    Scenario(
      name: "crash-after-ack-before-finish", summary: "the answer is noted; killed before the store is told",
      story:
        "Everything is done but for the store's own list. At the next launch it delivers the transaction again.",
      attacks: "apps that upload, or grant, whatever the store delivers again",
      proves: ["invariant 3", "invariant 23"], launches: [.purchase(killed: .beforeFinish)],
      expects: .init(paid: 1)),
    Scenario(
      name: "crash-loop", summary: "killed again and again, one step further each time, until it is done",
      story: "The phone has no memory left. The app gets one step further with each launch, and dies there.",
      attacks: "apps that need one run without a fault",
      proves: ["R5.3", "invariant 1", "invariant 8"], launches: [.purchase(killed: .againAndAgain)],
      expects: .init(paid: 1)),
  ]

  static let reinstalls: [Scenario] = [
    Scenario(
      name: "reinstall", summary: "killed with an unsent receipt, deleted and installed again",
      story:
        "Nothing is left but the keychain. The app is deleted in anger, and installed again to complain.",
      attacks: "apps that keep unsent receipts in their own folder",
      proves: ["R5.5", "invariant 1"],
      launches: [
        .purchase(killed: .afterEnqueue, before: [.fault("dropBeforeCommit")], reinstalled: true)
      ], expects: .init(paid: 1)),
    Scenario(
      name: "reinstall-offline", summary: "deleted and installed again without a network, twice",
      story: "The backend cannot be reached. Alice pays, deletes, installs, opens, and deletes again.",
      attacks: "apps that clear what a fresh install finds before it was sent",
      proves: ["R5.3", "R5.5"],
      launches: [
        Launch(before: [.offline], does: [.use(milliseconds: 50)]),
        Launch(before: [.noFaults, .outage()], does: [buyGems, .use(milliseconds: 80)], reinstalled: true),
        Launch(does: [.use(milliseconds: 80)], reinstalled: true), Launch(before: [.noFaults]),
      ], expects: .init(paid: 1)),
    Scenario(
      name: "reinstall-then-other-account",
      summary: "installed again, and somebody else signs in, in the app and to the store",
      story: """
        Alice pays, and her phone goes to bob before the receipt was sent: he deletes and installs the app, and uses \
        his own account and Apple ID. Weeks later alice has the phone again.
        """,
      attacks: "apps that upload under whoever is signed in now",
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
      summary: "the phone's files are those of last week; what was granted is sent again",
      story: """
        A backup is made while a receipt is unsent. It is delivered, and another one. Then the phone is restored: its \
        queue believes that the first is still unsent, and knows nothing of the second.
        """,
      attacks: "backends that trust the phone not to ask twice; apps that finish what they do not know",
      proves: ["invariant 21", "invariant 2"],
      launches: [
        Launch(before: [.outage()], does: [buyGems, .use(milliseconds: 60)]),
        Launch(before: [.phoneBackedUp, .noFaults], does: [buyCoins]),
        Launch(before: [.phoneRestored]),
      ], expects: .init(paid: 2, verdicts: ["duplicate": 1])),
  ]
}

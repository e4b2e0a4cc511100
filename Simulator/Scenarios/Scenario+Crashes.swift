import PurchaseSyncTesting

/// One purchase, and an app or an answer that dies.
extension Scenario {
  private static func purchase(_ crash: Crash, reinstalls: Bool = false) -> [Launch] {
    [Launch(steps: [.buy(product: gems, account: "alice")], crash: crash, reinstalls: reinstalls)]
  }

  static let crashes: [Scenario] = [
    Scenario(name: "purchase", summary: "pay, upload, granted, finished: nothing goes wrong"),
    Scenario(
      name: "backend-outage", summary: "the backend answers 503 to the first five uploads",
      faults: { .outage(path: uploads, requests: 5) }),
    Scenario(
      name: "reply-lost", summary: "the backend grants, and its answer is lost",
      faults: { .replyLost(path: uploads, occurrence: 1) }),
    Scenario(
      name: "crash-after-payment", summary: "the app is killed between the charge and the store's call back",
      launches: purchase(.afterPayment)),
    Scenario(
      name: "crash-after-enqueue",
      summary: "no signal: the first upload is lost, and the app is killed before it can try again",
      launches: purchase(.afterEnqueue), faults: { .requestLost(path: uploads, occurrence: 1) }),
    Scenario(
      name: "crash-after-grant",
      summary: "the app is killed when the answer arrives, before anything is written",
      launches: purchase(.afterGrant)),
    Scenario(
      name: "reinstall",
      summary: "killed with an unsent receipt, deleted and installed again: only the keychain area is left",
      launches: purchase(.afterEnqueue, reinstalls: true),
      faults: { .requestLost(path: uploads, occurrence: 1) }),
  ]
}

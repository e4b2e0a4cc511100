import PurchaseSync
import PurchaseSyncTesting

/// Which order a transaction belongs to, when that is not plain.
extension Scenario {
  /// The old interface: the app receipt is the only proof, and shared by whatever is unfinished.
  private static let receiptsOnly: @Sendable (WorldServer) throws -> Void = { world in
    world.withStore { $0.delivery = StoreDelivery(proofs: [.appReceipt]) }
  }

  private static let buyTwo: [AppStep] = [
    .buy(product: gems, account: "alice"), .buy(product: coins, account: "alice"),
  ]

  static let matching: [Scenario] = [
    Scenario(
      name: "same-product-twice",
      summary: "the same thing bought twice in a row, and the first answer is lost",
      launches: [
        Launch(steps: [.buy(product: gems, account: "alice"), .buy(product: gems, account: "alice")])
      ],
      faults: { .replyLost(path: uploads, occurrence: 1) }),
    Scenario(
      name: "two-purchases-one-receipt",
      summary: "two purchases while the backend is down: one app receipt proves both",
      launches: [Launch(steps: buyTwo)], prepare: receiptsOnly,
      faults: { .outage(path: uploads, requests: 3) }),
    Scenario(
      name: "one-receipt-two-accounts",
      summary: "two people buy with one Apple ID: the app receipt holds what belongs to both",
      launches: [
        Launch(steps: [.buy(product: gems, account: "alice"), .buy(product: coins, account: "bob")])
      ],
      prepare: receiptsOnly, faults: { .outage(path: uploads, requests: 3) }),
    Scenario(
      name: "token-missing-after-restart",
      summary: "killed after the payment; the store delivers again, without the account token",
      launches: [Launch(steps: [.buy(product: gems, account: "alice")], crash: .afterPayment)],
      prepare: { world in world.withStore { $0.delivery = .tokenForgotten } }),
    Scenario(
      name: "receipt-lacks-transaction",
      summary: "the app receipt lacks the purchase that has just been paid, for a while",
      prepare: { world in
        world.withStore {
          $0.delivery = StoreDelivery(proofs: [.appReceipt])
          $0.faults.lackedPurchases = 1
          $0.faults.lackingReadings = 2
        }
      }),
  ]
}

import PurchaseSyncTesting
import ScenarioFormat

/// Transactions whose order is hard to find.
extension Scenario {
  /// The old interface: one app receipt is the proof of every unfinished transaction.
  private static let receiptsOnly = EnvironmentStep.delivery(proofs: ["appReceipt"], forgetsToken: false)

  static let matching: [Scenario] = [
    Scenario(
      name: "same-product-twice", summary: "the same product bought twice in a row; the first answer is lost",
      description: "Alice buys 100 gems, and 100 more. Only the transaction ids differ.",
      attacks: "apps and backends that tell purchases apart by product",
      proves: ["R4.5", "invariant 9"],
      launches: [Launch(before: [.fault(.dropAfterCommit)], does: [buyGems, buyGems])],
      expects: .init(paid: 2)),
    Scenario(
      name: "two-purchases-one-receipt", summary: "two purchases in an outage: one app receipt proves both",
      description: "Alice buys gems and coins while the backend is down. The app receipt then has both.",
      attacks: "apps that take a receipt for one purchase",
      proves: ["R4.4", "R4.5"],
      launches: [Launch(before: [receiptsOnly, .outage(3)], does: [buyGems, buyCoins])],
      expects: .init(paid: 2)),
    Scenario(
      name: "one-receipt-two-accounts", summary: "two people buy with one Apple ID, and share its receipt",
      description: "Alice and bob use one phone. Its app receipt has her purchase and his.",
      attacks: "backends that grant everything in a receipt to its sender",
      proves: ["R4.4", "invariant 6"],
      launches: [
        Launch(
          before: [receiptsOnly, .outage(3)], does: [buyGems, .buy(product: coins, account: "bob")])
      ], expects: .init(paid: 2)),
    Scenario(
      name: "token-missing-after-restart", summary: "the store delivers again, without the account token",
      description: """
        The app is killed after the payment. The old interface delivers the transaction without its \
        order's token.
        """,
      attacks: "apps that need the token to find the owner",
      proves: ["R4.5", "invariant 9"],
      launches: [
        .purchase(
          killed: .afterPayment, before: [.delivery(proofs: ["appReceipt"], forgetsToken: true)])
      ], expects: .init(paid: 1)),
    Scenario(
      name: "receipt-lacks-transaction", summary: "the app receipt lacks the new purchase for a while",
      description: "The store has charged, and the receipt on the phone is still the one from before.",
      attacks: "apps that send the receipt they find, and take the answer for final",
      proves: ["R4.4", "R5.4"],
      launches: [
        Launch(before: [receiptsOnly, .receiptLacks(purchases: 1, readings: 2)], does: [buyGems])
      ], expects: .init(paid: 1)),
  ]
}

/// Which order a transaction belongs to, when that is not plain.
extension Scenario {
  /// The old interface: the app receipt is the only proof, and shared by whatever is unfinished.
  private static let receiptsOnly = WorldStep.delivery(proofs: ["appReceipt"], forgetsToken: false)

  static let matching: [Scenario] = [
    Scenario(
      name: "same-product-twice", summary: "the same thing bought twice in a row; the first answer is lost",
      story: "Alice buys 100 gems, and 100 more. Nothing but the transaction's id tells the two apart.",
      attacks: "apps and backends that tell purchases apart by product",
      proves: ["R4.5", "invariant 9"],
      launches: [Launch(before: [.fault("dropAfterCommit")], does: [buyGems, buyGems])],
      expects: .init(paid: 2)),
    Scenario(
      name: "two-purchases-one-receipt", summary: "two purchases in an outage: one app receipt proves both",
      story: "While the backend is away alice buys gems and coins. The app receipt then holds both.",
      attacks: "apps that take a receipt for a purchase",
      proves: ["R4.4", "R4.5"],
      launches: [Launch(before: [receiptsOnly, .outage(3)], does: [buyGems, buyCoins])],
      expects: .init(paid: 2)),
    Scenario(
      name: "one-receipt-two-accounts", summary: "two people buy with one Apple ID, and share its receipt",
      story:
        "Alice and bob use one phone. Its app receipt holds what belongs to her and what belongs to him.",
      attacks: "backends that grant whatever is in a receipt to whoever sends it",
      proves: ["R4.4", "invariant 6"],
      launches: [
        Launch(
          before: [receiptsOnly, .outage(3)], does: [buyGems, .buy(product: coins, account: "bob")])
      ], expects: .init(paid: 2)),
    Scenario(
      name: "token-missing-after-restart", summary: "the store delivers again, without the account token",
      story: "Killed after the payment. The old interface forgets to which order it belonged.",
      attacks: "apps that need the token to know whose it is",
      proves: ["R4.5", "invariant 9"],
      launches: [
        .purchase(
          killed: .afterPayment, before: [.delivery(proofs: ["appReceipt"], forgetsToken: true)])
      ], expects: .init(paid: 1)),
    Scenario(
      name: "receipt-lacks-transaction",
      summary: "the app receipt lacks what has just been paid, for a while",
      story: "The store has charged, and the receipt on the phone is still the one from before.",
      attacks: "apps that send the receipt they find, and take the answer for final",
      proves: ["R4.4", "R5.4"],
      launches: [
        Launch(before: [receiptsOnly, .receiptLacks(purchases: 1, readings: 2)], does: [buyGems])
      ], expects: .init(paid: 1)),
  ]
}

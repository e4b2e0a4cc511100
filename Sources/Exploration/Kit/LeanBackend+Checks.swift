/// What the simulations' checks ask. It repeats none of the rules.
extension LeanBackend {
  /// An answer, and what the checks want to know about it.
  struct CheckedAnswer {
    var answer: Answer
    /// Invariant 39: what a claim without a proof moves goes to the owner whom the store's record names. Nil with a proof.
    var isByRecord: Bool?
    /// Invariant 43: the ledger's units, if they are not those that are paid and not refunded.
    var miscounted: Int?
    /// The owner of the line that was written into the ledger, or moved there; nil if nothing was.
    var credited: Owner?
  }

  mutating func checkedAnswer(
    on claim: LeanClaim, tokenIsTold: Bool, isProven: Bool, from uploader: Owner, signedIn: Owner,
    _ store: LeanStore, at now: Int64
  ) -> CheckedAnswer {
    let (owner, lines, holder) = (
      owner(of: claim.sale, store), count(of: claim.sale), credit(of: claim.sale)?.owner
    )
    let answer = answer(
      on: claim, tokenIsTold: tokenIsTold, isProven: isProven, from: uploader, signedIn: signedIn, store,
      at: now)
    let present = credit(of: claim.sale)?.owner
    let units = present == nil ? nil : unitsCredited(of: claim.sale, store)
    let paid = store.sales[claim.sale].units - store.sales[claim.sale].refundedUnits
    let isCredited = count(of: claim.sale) > lines || present != holder
    return CheckedAnswer(
      answer: answer, isByRecord: isProven ? nil : isByRecord(claim.sale, since: owner, store),
      miscounted: units.flatMap { $0 == paid ? nil : $0 },
      credited: isCredited ? present : nil)
  }

  /// The present owner of a sale; nil if it is not credited.
  func owner(of sale: Int, _ store: LeanStore) -> Owner? { credit(of: sale).map { owner(of: $0, store) } }

  /// Whether the sale has the owner that it had, or one whom the store's record names: by the sale's token, or as the owner
  /// of another period of the subscription. A credit of a device belongs to the account that adopted what was paid there
  /// before; the record names the device.
  private func isByRecord(_ sale: Int, since before: Owner?, _ store: LeanStore) -> Bool {
    guard let credit = credit(of: sale) else { return true }
    let owner = owner(of: credit, store)
    if owner == before { return true }
    let sold = store.sales[sale]
    if sold.order >= 0, orders[sold.order].account == owner { return true }
    return store.sales.indices.contains { other in
      guard other != sale, store.sales[other].original == sold.original else { return false }
      return [owner, credit.owner].contains(self.owner(of: other, store))
    }
  }
}

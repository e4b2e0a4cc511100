import AppStoreReceipts
import PurchaseSync

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
    /// Invariant 44, of a subscription in a bundle; nil for every other sale.
    var isBundleWhole: Bool?
    /// Invariant 45, of an assigned seat; nil for every other sale.
    var isSeatMembers: Bool?
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
      credited: isCredited ? present : nil, isBundleWhole: isBundleWhole(claim.sale, answer.ruling, store),
      isSeatMembers: isSeatMembers(claim.sale, answer, store))
  }

  /// Whether a subscription of a bundle is credited as its verdict says, and no account has it but the one that has the
  /// others of the payment.
  private func isBundleWhole(_ sale: Int, _ ruling: Ruling, _ store: LeanStore) -> Bool? {
    let siblings = store.siblings(of: sale)
    guard !siblings.isEmpty, [.granted, .duplicate, .otherOwner].contains(ruling) else { return nil }
    guard count(of: sale) == 1, let own = owner(of: sale, store) else { return false }
    let others = siblings.compactMap { owner(of: $0, store) }.filter { $0 >= 0 }
    return own < 0 ? others.isEmpty : others.allSatisfy { $0 == own }
  }

  /// The present owner of a sale; nil if it is not credited.
  func owner(of sale: Int, _ store: LeanStore) -> Owner? { credit(of: sale).map { owner(of: $0, store) } }

  /// Whether the sale has the owner that it had, or one whom the store's record names: by the token of its payment, or as the
  /// owner of another period of the subscription. A credit of a device belongs to the account that adopted what was paid there
  /// before; the record names the device.
  private func isByRecord(_ sale: Int, since before: Owner?, _ store: LeanStore) -> Bool {
    guard let credit = credit(of: sale) else { return true }
    let owner = owner(of: credit, store)
    if owner == before { return true }
    let sold = store.sales[sale]
    let named = ([sale] + store.siblings(of: sale)).map { store.sales[$0].order }.filter { $0 >= 0 }
    if named.contains(where: { orders[$0].account == owner }) { return true }
    if store.siblings(of: sale).contains(where: { self.owner(of: $0, store) == owner }) { return true }
    return store.sales.indices.contains { other in
      guard other != sale, store.sales[other].original == sold.original else { return false }
      return [owner, credit.owner].contains(self.owner(of: other, store))
    }
  }

  /// Says in a verdict how much is refunded, to the owner.
  func sayRefund(of sale: Int, in verdict: inout ClaimVerdict, _ store: LeanStore) {
    guard verdict.verdict == .refunded, verdict.owner != .another else { return }
    let units = Int(takenBack[sale])
    verdict.refundedShare = RefundedShare(units: units, of: store.sales[sale].units)?.milliPercent
    verdict.refundedUnits = units
  }

  /// How many units of a credited sale count.
  func unitsCredited(of sale: Int, _ store: LeanStore) -> Int {
    store.sales[sale].units - Int(takenBack[sale])
  }
}

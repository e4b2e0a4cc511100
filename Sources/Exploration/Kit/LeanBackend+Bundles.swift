/// Subscriptions of a bundle (`BackendModel+Bundles`).
extension LeanBackend {
  private func lines(inBundleOf sale: Int, _ store: LeanStore) -> [Int] {
    store.siblings(of: sale).filter { $0 < creditOf.count && creditOf[$0] >= 0 }.map { Int(creditOf[$0]) }
  }

  /// The account that paid for the bundle: that of another transaction of the payment.
  func payer(_ sale: Int, _ store: LeanStore) -> Owner? {
    orderer(sale, store)
      ?? lines(inBundleOf: sale, store).map { owner(of: credits[$0], store) }.first { $0 >= 0 }
  }

  /// The account that another transaction of the payment names by its token, or else whose order it fulfils.
  func orderer(_ sale: Int, _ store: LeanStore) -> Owner? {
    namedPayer(sale, store)
      ?? lines(inBundleOf: sale, store).first { credits[$0].order != nil }
      .map { owner(of: credits[$0], store) }
  }

  /// The account that another transaction of the payment names by its token, credited or not.
  func namedPayer(_ sale: Int, _ store: LeanStore) -> Owner? {
    store.siblings(of: sale).first { $0 < knowsToken.count && knowsToken[$0] }
      .map { orders[store.sales[$0].order].account }
  }

  /// Whether the payment has fulfilled an order of this account: it fulfils no second one.
  func hasPaid(orderOf account: Owner, byBundleOf sale: Int, _ store: LeanStore) -> Bool {
    lines(inBundleOf: sale, store).contains { line in
      credits[line].order != nil && owner(of: credits[line], store) == account
    }
  }

  /// Where a subscription of a bundle goes, of which the claim alone says `found`.
  func inBundle(
    _ found: (owner: Owner, order: Int?), of claim: LeanClaim, _ store: LeanStore
  ) -> (owner: Owner, order: Int?) {
    if knowsToken[claim.sale] {
      return hasPaid(orderOf: found.owner, byBundleOf: claim.sale, store) ? (found.owner, nil) : found
    }
    if let named = namedPayer(claim.sale, store) { return (named, nil) }
    if found.order != nil {
      if case .bound = claim.match { return found }
      return orderer(claim.sale, store).map { ($0, nil) } ?? found
    }
    return payer(claim.sale, store).map { ($0, nil) } ?? found
  }

  /// The owner of a line without a token from now on; nil if it stays where it is.
  func heir(
    _ sold: LeanStore.Sale, _ line: LeanCredit, _ present: Owner, provenBy uploader: Owner, _ store: LeanStore
  ) -> Owner? {
    if let named = namedPayer(line.sale, store) { return named }
    guard line.order == nil else { return nil }
    if let orderer = orderer(line.sale, store) { return orderer }
    guard sold.expiresAt != nil, present < 0 else { return nil }
    return payer(line.sale, store) ?? uploader
  }

  /// The other lines of the payment that change with this one. What a device has is the payer's, once the payer is known; what
  /// another account has, once a token or an order names the payer.
  mutating func moveSiblings(of line: LeanCredit, _ store: LeanStore) {
    guard line.owner >= 0 else { return }
    let isNamed = knowsToken[line.sale]
    for other in lines(inBundleOf: line.sale, store) where !knowsToken[credits[other].sale] {
      let owner = owner(of: credits[other], store)
      guard owner != line.owner, isNamed || line.order != nil || owner < 0 else { continue }
      guard isNamed || credits[other].order == nil || credits[other].isGuess else { continue }
      move(other, to: line.owner)
    }
  }
}

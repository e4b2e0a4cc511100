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

  /// The account whose order another transaction of the payment fulfils, or names by its token.
  func orderer(_ sale: Int, _ store: LeanStore) -> Owner? {
    lines(inBundleOf: sale, store).first { provesPayer($0) }.map { owner(of: credits[$0], store) }
  }

  private func provesPayer(_ line: Int) -> Bool {
    credits[line].order != nil || knowsToken[credits[line].sale]
  }

  /// The owner of a line without an order from now on; nil if it stays where it is.
  func heir(
    _ sold: LeanStore.Sale, _ sale: Int, _ present: Owner, provenBy uploader: Owner, _ store: LeanStore
  ) -> Owner? {
    if let orderer = orderer(sale, store) { return orderer }
    guard sold.expiresAt != nil, present < 0 else { return nil }
    return payer(sale, store) ?? uploader
  }

  /// What a device has of the same payment is the payer's, once the payer is known, and what another account has without an
  /// order and a token, once the payer's order is fulfilled.
  mutating func moveSiblings(of sale: Int, to owner: Owner, isOrdered: Bool, _ store: LeanStore) {
    guard owner >= 0 else { return }
    for line in lines(inBundleOf: sale, store) where !provesPayer(line) {
      if isOrdered || self.owner(of: credits[line], store) < 0 { credits[line].owner = owner }
    }
  }
}

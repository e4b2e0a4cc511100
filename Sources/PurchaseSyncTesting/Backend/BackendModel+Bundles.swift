import AppStoreReceipts
import PurchaseQueue
import PurchaseSync

/// Subscriptions that are part of a bundle. Each is credited once, to the account that paid for the bundle; one of a payment
/// fulfils the bundle's order.
///
/// A token proves who paid. An order that a transaction without a token fulfils may be a guess of a device that waits for the
/// same bundle: it gives way to the token of another transaction of the payment, and to an order that a sheet has bound.
extension BackendModel {
  /// The account that paid for the bundle, if the store's record names it: another transaction of the payment names it by its
  /// token, or else fulfils its order, or else is its own. A device is no owner to inherit from: it may be another one now.
  func payer(ofBundle facts: VerifiedTransaction) -> Uploader? {
    if let payer = orderer(ofBundle: facts) { return payer }
    let owners = credits(inBundleOf: facts).map(owner(of:))
    return owners.first { $0.account != nil }
  }

  /// The account that another transaction of the payment names by its token, or else whose order it fulfils.
  func orderer(ofBundle facts: VerifiedTransaction) -> Uploader? {
    if let account = namedPayer(ofBundle: facts) { return account }
    return credits(inBundleOf: facts).first { $0.orderNumber != nil }.map(owner(of:))
  }

  /// The account that another transaction of the payment names by its token, credited or not.
  func namedPayer(ofBundle facts: VerifiedTransaction) -> Uploader? {
    for member in members(ofBundle: facts) {
      if let order = tokenOrder(of: member) { return .account(order.account) }
    }
    return nil
  }

  /// Whether the payment has fulfilled an order of this account: it fulfils no second one.
  func hasPaid(orderOf account: Uploader, byBundleOf facts: VerifiedTransaction) -> Bool {
    credits(inBundleOf: facts).contains { $0.orderNumber != nil && owner(of: $0) == account }
  }

  /// Where a subscription of a bundle goes, of which the claim alone says `found`.
  func inBundle(_ found: Destination, of claim: Claim, _ facts: VerifiedTransaction) -> Destination {
    if tokenOrder(of: facts) != nil {
      guard case .order(let order) = found else { return found }
      let account = Uploader.account(order.account)
      return hasPaid(orderOf: account, byBundleOf: facts) ? .owner(account, reason: nil) : found
    }
    if let named = namedPayer(ofBundle: facts) { return .owner(named, reason: nil) }
    switch found {
    case .order where claim.match == .bound: return found
    case .order: return orderer(ofBundle: facts).map { .owner($0, reason: nil) } ?? found
    case .owner(_, let reason): return payer(ofBundle: facts).map { .owner($0, reason: reason) } ?? found
    }
  }

  /// The other lines of the payment that change with this one. What a device has is the payer's, once the payer is known; what
  /// another account has, once a token or an order names the payer; not what has an order that was no guess, unless it is a
  /// token.
  func others(inBundleOf facts: VerifiedTransaction, after line: Credit) -> [BackendWrite] {
    guard facts.bundle != nil, line.owner.account != nil else { return [] }
    let isNamed = tokenOrder(of: facts) != nil
    return credits(inBundleOf: facts).flatMap { other -> [BackendWrite] in
      guard purchase(other.transaction).flatMap({ tokenOrder(of: $0.facts) }) == nil else { return [] }
      let owner = owner(of: other)
      guard owner != line.owner, isNamed || line.orderNumber != nil || owner.account == nil else { return [] }
      guard isNamed || other.orderNumber == nil || other.cause == .proposed else { return [] }
      return moves(of: other, to: line.owner)
    }
  }

  private func credits(inBundleOf facts: VerifiedTransaction) -> [Credit] {
    members(ofBundle: facts).flatMap { credits(for: $0.grantKey) }
  }

  /// The other transactions of the payment that are known here.
  private func members(ofBundle facts: VerifiedTransaction) -> [VerifiedTransaction] {
    guard let payment = facts.bundle?.transactionID, !facts.environment.reusesTransactionIDs else {
      return []
    }
    let rows = index.bundles[ChainKey(environment: facts.environment, originalTransactionID: payment)] ?? []
    return rows.map { purchases[$0].facts }.filter { $0.grantKey != facts.grantKey }
  }
}

/// The purchase of a bundle, by its fields.
extension VerifiedTransaction {
  var bundleProductID: String? {
    get { bundle?.productID }
    set { change(newValue, \.productID) }
  }
  var bundleGroupID: String? {
    get { bundle?.groupID }
    set { change(newValue, \.groupID) }
  }
  var bundleTransactionID: String? {
    get { bundle?.transactionID }
    set { change(newValue, \.transactionID) }
  }
  var bundleOriginalTransactionID: String? {
    get { bundle?.originalTransactionID }
    set { change(newValue, \.originalTransactionID) }
  }

  private mutating func change(_ value: String?, _ field: WritableKeyPath<BundlePurchase, String?>) {
    guard value != nil || bundle != nil else { return }
    var changed = bundle ?? BundlePurchase(productID: nil)
    changed[keyPath: field] = value
    bundle = changed
  }
}

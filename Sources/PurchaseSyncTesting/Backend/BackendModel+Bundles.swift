import AppStoreReceipts
import PurchaseQueue
import PurchaseSync

/// Subscriptions that are part of a bundle. Each is credited once, to the account that paid for the bundle; the first of a
/// payment that is claimed fulfils the bundle's order.
extension BackendModel {
  /// The account that paid for the bundle, if the store's record names it: another transaction of the same payment fulfils its
  /// order, or else is an account's. A device is no owner to inherit from: it may be another one now.
  func payer(ofBundle facts: VerifiedTransaction) -> Uploader? {
    if let payer = orderer(ofBundle: facts) { return payer }
    let owners = credits(inBundleOf: facts).map(owner(of:))
    return owners.first { $0.account != nil }
  }

  /// The account whose order another transaction of the payment fulfils, or names by its token. That proves who paid, whoever
  /// has the others.
  func orderer(ofBundle facts: VerifiedTransaction) -> Uploader? {
    credits(inBundleOf: facts).first { provesPayer($0) }.map(owner(of:))
  }

  private func provesPayer(_ credit: Credit) -> Bool {
    credit.orderNumber != nil || purchase(credit.transaction).map { tokenOrder(of: $0.facts) != nil } ?? false
  }

  /// The ledger lines of a payment's other subscriptions that are the payer's from now on: what a device has uploaded before
  /// the payer was known. If the payer's order is fulfilled, also what another account has got without an order and a token.
  func lines(inBundleOf facts: VerifiedTransaction, movingTo payer: Uploader, isOrdered: Bool) -> [Credit] {
    credits(inBundleOf: facts).filter { credit in
      let owner = owner(of: credit)
      return owner != payer && !provesPayer(credit) && (isOrdered || owner.account == nil)
    }
  }

  private func credits(inBundleOf facts: VerifiedTransaction) -> [Credit] {
    guard let payment = facts.bundle?.transactionID, !facts.environment.reusesTransactionIDs else {
      return []
    }
    let members =
      index.bundles[ChainKey(environment: facts.environment, originalTransactionID: payment)] ?? []
    return members.map { purchases[$0].facts.grantKey }.filter { $0 != facts.grantKey }
      .flatMap { credits(for: $0) }
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

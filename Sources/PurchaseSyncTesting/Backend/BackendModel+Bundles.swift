import AppStoreReceipts
import PurchaseQueue
import PurchaseSync

/// Subscriptions that are part of a bundle. Each is credited once, to the account that paid for the bundle; the first of a
/// payment that is claimed fulfils the bundle's order.
extension BackendModel {
  /// The account that paid for the bundle, if the store's record names it: another transaction of the same payment is an
  /// account's, or one of an earlier payment of the bundle. A device is no owner to inherit from: it may be another one now.
  func payer(ofBundle facts: VerifiedTransaction) -> Uploader? {
    // A seat in a bundle is its member's, and says nothing of who has paid.
    guard let bundle = facts.bundle, !facts.environment.reusesTransactionIDs, !facts.isOfAnotherPayer else {
      return nil
    }
    for id in [bundle.transactionID, bundle.originalTransactionID].compactMap(\.self) {
      let members = index.bundles[ChainKey(environment: facts.environment, originalTransactionID: id)] ?? []
      for row in members.map({ purchases[$0] })
      where row.facts.transactionID != facts.transactionID && !row.facts.isOfAnotherPayer {
        if case .account(let account)? = presentOwner(of: row.facts.grantKey) { return .account(account) }
      }
    }
    return nil
  }

  /// The ledger lines of a payment's other subscriptions that a device uploaded before the payer was known: they are the
  /// payer's from now on.
  func creditsOfDevices(inBundleOf facts: VerifiedTransaction) -> [Credit] {
    guard let payment = facts.bundle?.transactionID, !facts.environment.reusesTransactionIDs,
      !facts.isOfAnotherPayer
    else { return [] }
    let members =
      index.bundles[ChainKey(environment: facts.environment, originalTransactionID: payment)] ?? []
    return members.map { purchases[$0].facts }
      .filter { $0.grantKey != facts.grantKey && !$0.isOfAnotherPayer }
      .flatMap { credits(for: $0.grantKey) }.filter { owner(of: $0).account == nil }
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

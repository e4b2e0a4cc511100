/// What the simulations' checks ask. It repeats none of the rules.
extension LeanBackend {
  /// The present owner of a sale; nil if it is not credited.
  func owner(of sale: Int, _ store: LeanStore) -> Owner? { credit(of: sale).map { owner(of: $0, store) } }

  /// Whether the sale has the owner that it had, or one whom the store's record names: by the sale's token, or as the owner
  /// of another period of the subscription.
  func isByRecord(_ sale: Int, since before: Owner?, _ store: LeanStore) -> Bool {
    guard let owner = owner(of: sale, store), owner != before else { return true }
    let sold = store.sales[sale]
    if sold.order >= 0, orders[sold.order].account == owner { return true }
    return store.sales.indices.contains {
      $0 != sale && store.sales[$0].original == sold.original && self.owner(of: $0, store) == owner
    }
  }
}

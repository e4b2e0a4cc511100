import AppStoreReceipts
public import PurchaseSync

/// Offer codes and bundles.
extension AppLab {
  /// An offer code is redeemed at the store, in its sheet or outside of the app: a purchase without an account token.
  ///
  /// - Returns: What the sheet of iOS 27 returns, for `Shop.redeem(for:sheet:)`.
  /// - Throws: `StoreModelError`: the store refuses it.
  @discardableResult
  public func redeem(
    _ code: String, product: String, storeAccount: String = "apple-id"
  ) throws -> StoreTransaction {
    let moment = server.moment
    let jws = try server.withStore { (store) throws(StoreModelError) -> String in
      let given = try store.redeem(
        offerCode: code, product: product, storeAccount: storeAccount, now: moment)
      return try store.signedTransaction(for: given.transactionID, now: moment)
    }
    return try StoreTransaction(jws: jws)
  }

  /// Which transactions of a bundle's payment have its account token, from now on. Apple's documents do not say: test with
  /// each.
  public func setBundleTokens(_ tokens: BundleTokens) { server.withStore { $0.bundleTokens = tokens } }

  /// Another app sells a bundle that contains subscriptions of this app, which this app has not sold. It gets them when it is
  /// in the foreground next.
  ///
  /// - Parameters:
  ///   - bundle: The bundle's product id.
  ///   - members: The products of this app's subscriptions. They need not be among the lab's products.
  ///   - period: How long a period is.
  ///   - storeAccount: The Apple ID that buys it.
  public func sellElsewhere(
    bundle: String, of members: [String], period: Duration, storeAccount: String = "apple-id"
  ) async throws {
    let moment = server.moment
    let product = StoreProduct(bundle: bundle, of: members.map { .init($0) }, period: period)
    _ = try server.withStore { (store) throws(StoreModelError) in
      try store.receive(product, soldElsewhereTo: storeAccount, now: moment)
    }
    await work()
  }

  /// The customer takes a subscription out of its bundle, at the end of its period. `keeps`: it renews alone; else it ends.
  public func leaveBundle(transactionID: String, keeps: Bool) async throws {
    let moment = server.moment
    _ = try server.withStore { (store) throws(StoreModelError) in
      try store.leaveBundle(transactionID: transactionID, keeps: keeps, now: moment)
    }
    await work()
  }
}

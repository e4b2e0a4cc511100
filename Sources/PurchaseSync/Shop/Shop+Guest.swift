import PurchaseQueue

/// Selling to a person without an account, and offer codes.
extension Shop {
  /// Who buys without an account.
  public struct Guest: Sendable, Hashable {
    /// The person who uses the app and is not signed in.
    public static let guest = Guest()
  }

  /// Sells a product to a person who is not signed in: an app must not ask for an account where none is needed (App Review
  /// 5.1.1(v)). As the call with an account, and:
  ///
  /// The purchase belongs to the device, whoever is signed in when the payment arrives, and under each
  /// ``UnclaimedPolicy``: its account token says that a guest has paid. It comes to `fulfil` without an account. An account
  /// gets it only when the app says so: ``signedIn(as:adoptingGuest:)``.
  ///
  /// There is no order: no context comes back.
  public func purchase(
    _ product: String, quantity: Int = 1, for guest: Guest, isAnother: Bool = false, sheet: Sheet? = nil
  ) async throws(SyncError) -> Sale {
    let wish = OrderWish(account: "", product: product, quantity: quantity)
    return try await answer(to: wish, .guest, isAnother: isAnother, sheet).get()
  }

  /// Shows a sheet that redeems an offer code, and returns its transaction; nil if the user closed it, or if the system
  /// returns none.
  public typealias RedeemSheet = @Sendable () async throws -> StoreTransaction?

  /// Redeems an offer code for an account. `StoreKitStore.redeemSheet(_:)` makes the sheet (iOS 27).
  ///
  /// What a code gives has no account token, so the account is said here: what the sheet returns, and what the store
  /// delivers for a code while the sheet is open, is this account's. What was redeemed elsewhere goes by the
  /// ``UnclaimedPolicy``, and so does this if the app is killed at the sheet. Ends as `purchase` does.
  public func redeem(for account: String, sheet: @escaping RedeemSheet) async throws(SyncError) -> Sale {
    let wish = OrderWish(account: account, product: "", quantity: 1)
    let answer = await answer(to: wish, .redemption) { _ in
      if let transaction = try await sheet() { .purchased(transaction) } else { .cancelled }
    }
    return try answer.get()
  }
}

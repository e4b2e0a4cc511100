/// For whom a purchase is that names no owner: an offer code, a purchase on the app's page in the App Store or in a view of
/// StoreKit, a renewal of one. It has no account token, or one that neither an order here nor the app knows
/// (``SyncConfiguration/accountForToken``), and the owner of its original is not known here.
///
/// The claim says which rule was used (`MatchEvidence`). If the backend knows an owner, by an earlier purchase of the
/// chain, that account gets it under each policy.
@nonexhaustive
public enum UnclaimedPolicy: String, Sendable, Hashable, CaseIterable {
  /// It belongs to the device until an account adopts it (``SyncEngine/adoptDevicePurchases(for:)``).
  case device
  /// It belongs to the account that is signed in when it arrives (``SyncConfiguration/currentAccount``); to the device if
  /// none is. What a restore finds in an app receipt belongs to the device all the same: a receipt names no tokens, so it
  /// may be what a guest, or another account, has bought on another phone.
  case signedInAccount
  /// It belongs to the device, and the app asks its user as soon as the outcome says that no account has it
  /// (``Outcome/owner`` is `device`). If the answer is yes, the app calls ``SyncEngine/adoptDevicePurchases(for:)``. Before
  /// the outcome nothing is asked: the purchase may be another account's. The answer is about the device and not about
  /// one purchase: the account gets everything of the device that no account has, also what was answered with no before.
  case ask
}

/// What the app knows when a transaction arrives.
package struct AppUser: Sendable, Hashable {
  /// The account that is signed in; nil for none.
  package var account: String?
  /// For whom unclaimed purchases are.
  package var policy: UnclaimedPolicy
  /// The order whose sheet returned the transaction; nil if none did.
  package var paidOrder: String?
  /// The app is to be asked whose a token is that no order here has (``SyncConfiguration/accountForToken``).
  package var isAskedAboutTokens = false

  package init(account: String? = nil, policy: UnclaimedPolicy = .device) {
    (self.account, self.policy) = (account, policy)
  }

  /// No account is signed in.
  package static var none: AppUser { AppUser() }
}

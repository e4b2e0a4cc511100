package import PurchaseSyncTesting

/// One thing that happens outside of the app, while it does not run.
package enum EnvironmentStep: Hashable {
  /// The faults from now on; they replace earlier ones.
  case faults(FaultPlan)
  /// Time passes, for phone, store and backend.
  case wait(milliseconds: Int64)

  // MARK: The store

  /// Bought with this Apple ID outside of the app, as with an offer code: there is no order.
  case boughtOutside(product: String, storeAccount: String, count: Int)
  /// A person taps the product on the app's page in the store.
  case promoted(product: String, storeAccount: String)
  /// Whether purchases of this Apple ID need an approval, and how many of them the store interrupts.
  case payment(storeAccount: String, asksToBuy: Bool, interruptions: Int)
  /// All purchases that wait for an approval or were interrupted are charged.
  case approved
  /// The n-th charge is refunded, or a part of it; the first is 1.
  case refunded(purchase: Int, RefundExtent = .whole)
  /// The refund of the n-th charge is taken back.
  case refundReversed(purchase: Int)
  /// These Apple IDs are the family of that one; they replace earlier ones.
  case family(storeAccount: String, members: [String])
  /// The subscription of the n-th charge changes to another product.
  case planChanged(purchase: Int, product: String)
  /// What happens with a bundle of subscriptions.
  case bundle(BundleStep)
  /// What happens with the seats of a subscription.
  case seat(SeatStep)
  /// Whether the subscription of the n-th charge renews.
  case renewal(purchase: Int, isOn: Bool)
  /// Whether the bank pays for this Apple ID.
  case billing(storeAccount: String, works: Bool)
  /// A parent no longer consents to the use of the app by this Apple ID.
  case consentRescinded(storeAccount: String)
  /// The kinds of proofs that the store delivers, and whether later launches get transactions without the account
  /// token.
  case delivery(proofs: [String], forgetsToken: Bool)
  /// The app receipt lacks so many of the next purchases, each until it was read so many times.
  case receiptLacks(purchases: Int, readings: Int)
  /// From now on the store answers the payment of an unfinished consumable, and of a subscription that runs or is over and
  /// unfinished, with the earlier transaction.
  case repeatsTransactions
  /// Whether the store's listings contain finished transactions too.
  case listsFinished(Bool)

  // MARK: The backend

  case backendBackedUp
  /// The backend loses everything since its backup.
  case backendRestored

  // MARK: The phone

  case storeAccount(String)
  case phoneBackedUp
  /// The app's files are restored from the backup; the keychain stays as it is.
  case phoneRestored
  /// The app's files are restored on another phone, from a backup of the first one; its keychain stays as it is.
  case phoneCloned(to: String)
  /// Bytes of the app's file are overwritten: `page` for one in the middle, `header` for the first.
  case damaged(String)
  /// The app's file gets the format of an earlier version, with the same entries.
  case earlierVersion
}

import PurchaseSyncTesting

/// One thing that happens outside of the app, while it does not run.
enum WorldStep: Hashable {
  /// What goes wrong from now on, in place of what was planned before.
  case faults(FaultPlanDocument)
  /// Time goes by, for everybody.
  case wait(milliseconds: Int64)

  // MARK: The store

  /// Bought with this Apple ID outside of the app, as with an offer code: there is no order.
  case boughtOutside(product: String, storeAccount: String, count: Int)
  /// Somebody taps the product on the app's page in the store.
  case promoted(product: String, storeAccount: String)
  /// Whether somebody else has to agree to what this Apple ID buys, and how many purchases the store interrupts.
  case payment(storeAccount: String, asksToBuy: Bool, interruptions: Int)
  /// Everything that waits for somebody to agree, or to be gone on with, is charged.
  case approved
  /// The n-th charge is paid back; the first is 1.
  case refunded(purchase: Int)
  /// These Apple IDs are the family of that one, in place of those before.
  case family(storeAccount: String, members: [String])
  /// The subscription of the n-th charge changes to another product.
  case planChanged(purchase: Int, product: String)
  /// The subscription of the n-th charge renews, or does not any more.
  case renewal(purchase: Int, isOn: Bool)
  /// Whether the bank pays for this Apple ID.
  case billing(storeAccount: String, works: Bool)
  /// Over which of its interfaces the store hands over transactions, and whether a later launch gets them without
  /// the account token.
  case delivery(proofs: [String], forgetsToken: Bool)
  /// The app receipt lacks so many of the next purchases, each for so many readings.
  case receiptLacks(purchases: Int, readings: Int)

  // MARK: The backend

  case backendBackedUp
  /// The backend loses everything since its backup.
  case backendRestored

  // MARK: The phone

  case storeAccount(String)
  case phoneBackedUp
  /// The app's files are those of the backup; the keychain is as it is.
  case phoneRestored
  /// Bytes of the app's file are overwritten: `page` for one in the middle, `header` for the first.
  case damaged(String)
  /// The app's file is one that an earlier version of the app wrote, with the same in it.
  case earlierVersion
}

import AppStoreReceipts
import PurchaseQueue

/// The payment sheets of this process that may be open, and what the store delivered before each of them.
///
/// ```
///             open                      (a sheet that ends reports nothing here:
///   no sheet ──────▶ may be open         some payments complete later, in another app)
///
///             arrived, the first time
///   unknown ──────────────────────────▶ came before every sheet that opens later
/// ```
///
/// If the user owns the product already, the store answers a sheet with the *earlier* transaction. One that came before the
/// sheet can't be its payment.
struct OpenSheets {
  /// Keys of order requests that are waiting for their answer: their sheets follow.
  var requests: Set<String> = []
  /// How many sheets had opened when the order's did, with its own.
  private var opened: [String: Int] = [:]
  /// How many sheets had opened when the transaction came.
  private var arrivals: [EntryKey: Int] = [:]
  /// The accounts whose sheets for offer codes are open, by the numbers of the sheets.
  private var redemptions: [String: String] = [:]

  /// The orders whose sheets may be open: none of them is given to a second sheet.
  var orders: Set<String> { Set(opened.keys) }

  /// The order goes to a sheet.
  mutating func open(for order: String) { opened[order] = opened.count + 1 }

  /// Whether the first arrival of the transaction says something about a sheet.
  func isToNote(_ key: EntryKey) -> Bool { !opened.isEmpty && arrivals[key] == nil }

  /// The store has delivered a transaction that was not known.
  mutating func arrived(_ key: EntryKey) { arrivals[key] = opened.count }

  /// Whether the transaction came before the sheet of the order opened.
  func came(_ key: EntryKey, before order: String) -> Bool { (arrivals[key] ?? 0) < (opened[order] ?? 0) }

  // MARK: Offer codes

  mutating func openRedemption(_ number: String, for account: String) { redemptions[number] = account }

  mutating func endRedemption(_ number: String) { redemptions[number] = nil }

  /// For whom a transaction is that names no owner: of a code, for the account whose sheet is open.
  func user(of transaction: StoreTransaction, _ user: AppUser) -> AppUser {
    guard transaction.offerType == .code, transaction.accountToken == nil,
      // Of two accounts at once neither is certain.
      redemptions.count == 1, let account = redemptions.values.first,
      // A sheet that never ends says nothing of the next person.
      user.account?.utf8.elementsEqual(account.utf8) ?? true
    else { return user }
    return AppUser(account: account, policy: .signedInAccount)
  }
}

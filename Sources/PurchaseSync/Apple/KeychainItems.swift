/// The five things that a vault asks of a keychain: generic passwords of one service, told apart by account.
///
/// Thin on purpose: the system's calls behind it cannot run on Linux, so nothing is decided there.
package protocol KeychainItems: Sendable {
  /// The accounts and sizes of all items, in any order. Throws `notFound` if there are none.
  func list() throws(KeychainFailure) -> [KeychainEntry]
  /// The bytes of one item.
  func read(_ account: String) throws(KeychainFailure) -> [UInt8]
  /// A new item. Throws `duplicate` if there is one of that account.
  func add(_ account: String, _ bytes: [UInt8]) throws(KeychainFailure)
  /// Other bytes for an item. Throws `notFound` if there is none of that account.
  func update(_ account: String, _ bytes: [UInt8]) throws(KeychainFailure)
  /// Removes an item. Throws `notFound` if there is none of that account.
  func delete(_ account: String) throws(KeychainFailure)
}

/// An item as a list shows it.
package struct KeychainEntry: Hashable, Sendable {
  package var account: String
  /// Of its bytes; nil where the item doesn't say.
  package var size: Int?

  package init(account: String, size: Int?) {
    self.account = account
    self.size = size
  }
}

/// What a keychain answers other than success.
package enum KeychainFailure: Error, Hashable, Sendable {
  /// errSecItemNotFound
  case notFound
  /// errSecDuplicateItem
  case duplicate
  /// errSecInteractionNotAllowed: the device has not been unlocked since it started.
  case locked
  /// errSecDiskFull
  case noRoom
  /// errSecMissingEntitlement
  case notEntitled
  /// An item that has no bytes.
  case malformed
  /// Any other OSStatus.
  case other(status: Int32)
}

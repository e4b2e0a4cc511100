/// The five operations that a vault needs of a keychain: generic passwords of one service, distinguished by
/// account.
///
/// Kept thin on purpose: the system's calls behind it cannot run on Linux, so they make no decisions.
package protocol KeychainItems: Sendable {
  /// The accounts and sizes of all items, in any order. Throws `notFound` if there are none.
  func list() throws(KeychainFailure) -> [KeychainEntry]
  /// Returns the bytes of one item.
  func read(_ account: String) throws(KeychainFailure) -> [UInt8]
  /// Adds an item. Throws `duplicate` if the account already has one.
  func add(_ account: String, _ bytes: [UInt8]) throws(KeychainFailure)
  /// Replaces the bytes of an item. Throws `notFound` if the account has none.
  func update(_ account: String, _ bytes: [UInt8]) throws(KeychainFailure)
  /// Removes an item. Throws `notFound` if the account has none.
  func delete(_ account: String) throws(KeychainFailure)
}

/// An item in a list.
package struct KeychainEntry: Hashable, Sendable {
  package var account: String
  /// The number of its bytes; nil if the item does not state it.
  package var size: Int?

  package init(account: String, size: Int?) {
    self.account = account
    self.size = size
  }
}

/// The errors of a keychain.
package enum KeychainFailure: Error, Hashable, Sendable {
  /// errSecItemNotFound
  case notFound
  /// errSecDuplicateItem
  case duplicate
  /// errSecInteractionNotAllowed: the device has not been unlocked since it started.
  case locked
  /// errSecDiskFull
  case noSpace
  /// errSecMissingEntitlement
  case notEntitled
  /// The item has no bytes.
  case malformed
  /// Any other OSStatus.
  case other(status: Int32)
}

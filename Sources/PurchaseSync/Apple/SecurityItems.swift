#if canImport(Security)
  import Foundation
  import Security

  extension KeychainVault {
    /// A vault in this device's keychain. Calls block on the keychain's daemon; the queue makes them on a
    /// thread of its own.
    ///
    /// - Parameters:
    ///   - service: The vault's name among the keychain items of the app, such as its bundle id with
    ///     `.purchases`.
    ///   - accessGroup: A keychain access group of the app's entitlements, to share the vault with its extensions; nil for
    ///     the app's own. Another app of the group needs another `service`: a new file restores every item of its service,
    ///     and would take that app's purchases for its own.
    ///   - itemBytes: The greatest number of bytes of one item.
    ///   - totalBytes: The greatest number of bytes of all items.
    public init(
      service: String, accessGroup: String? = nil, itemBytes: Int = 16 << 10, totalBytes: Int = 8 << 20
    ) {
      self.init(
        items: SecurityItems(service: service, accessGroup: accessGroup), itemBytes: itemBytes,
        totalBytes: totalBytes)
    }
  }

  /// The keychain through its C functions. The only file of this module with unsafe code: one function
  /// returns through a pointer.
  private struct SecurityItems: KeychainItems {
    var service: String
    var accessGroup: String?

    func list() throws(KeychainFailure) -> [KeychainEntry] {
      var query = self.query()
      query[kSecMatchLimit as String] = kSecMatchLimitAll
      query[kSecReturnAttributes as String] = true
      guard let found = try copy(query) as? [[String: Any]] else { throw .malformed }
      return found.compactMap { attributes in
        guard let account = attributes[kSecAttrAccount as String] as? String else { return nil }
        return KeychainEntry(account: account, size: Self.size(attributes[kSecAttrGeneric as String]))
      }
    }

    func read(_ account: String) throws(KeychainFailure) -> [UInt8] {
      var query = self.query(account)
      query[kSecMatchLimit as String] = kSecMatchLimitOne
      query[kSecReturnData as String] = true
      guard let data = try copy(query) as? Data else { throw .malformed }
      return [UInt8](data)
    }

    func add(_ account: String, _ bytes: [UInt8]) throws(KeychainFailure) {
      let item = query(account).merging(Self.contents(bytes)) { _, new in new }
      try Self.check(SecItemAdd(item as CFDictionary, nil))
    }

    func update(_ account: String, _ bytes: [UInt8]) throws(KeychainFailure) {
      try Self.check(SecItemUpdate(query(account) as CFDictionary, Self.contents(bytes) as CFDictionary))
    }

    func delete(_ account: String) throws(KeychainFailure) {
      try Self.check(SecItemDelete(query(account) as CFDictionary))
    }

    private func copy(_ query: [String: Any]) throws(KeychainFailure) -> CFTypeRef? {
      var result: CFTypeRef?
      try Self.check(unsafe SecItemCopyMatching(query as CFDictionary, &result))
      return result
    }

    /// The query for one account's item; without an account, for all items of the service. It excludes items
    /// that iCloud copies to other devices. On macOS it selects the data protection keychain, as on iOS,
    /// instead of the old file-based one, which would prompt.
    private func query(_ account: String? = nil) -> [String: Any] {
      var query: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword,
        kSecAttrService as String: service,
        kSecAttrSynchronizable as String: false,
        kSecUseDataProtectionKeychain as String: true,
      ]
      if let account { query[kSecAttrAccount as String] = account }
      if let accessGroup { query[kSecAttrAccessGroup as String] = accessGroup }
      return query
    }

    /// The size is stored as an attribute, next to the bytes: lists return attributes without decrypting the
    /// bytes.
    private static func contents(_ bytes: [UInt8]) -> [String: Any] {
      [
        kSecValueData as String: Data(bytes),
        kSecAttrGeneric as String: Data(String(bytes.count).utf8),
        kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
      ]
    }

    private static func size(_ attribute: Any?) -> Int? {
      (attribute as? Data).flatMap { Int(String(decoding: $0, as: UTF8.self)) }
    }

    private static func check(_ status: OSStatus) throws(KeychainFailure) {
      switch status {
      case errSecSuccess: return
      case errSecItemNotFound: throw .notFound
      case errSecDuplicateItem: throw .duplicate
      case errSecInteractionNotAllowed: throw .locked
      case errSecDiskFull: throw .noSpace
      case errSecMissingEntitlement: throw .notEntitled
      default: throw .other(status: status)
      }
    }
  }
#endif

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

/// Small storage that outlives an uninstall: the keychain on iOS, a directory elsewhere.
///
/// The queue mirrors into it what a fresh install needs. It may fail, be full, or be locked until the device is
/// first unlocked; none of that fails a purchase. Calls block, and come from one thread at a time.
public protocol ReceiptVault: Sendable {
  /// Stores or replaces one item, durably: after this returns it survives power loss. All of it or nothing.
  func store(_ item: VaultItem) throws(VaultError)
  /// Removes one item; an absent one is fine.
  func remove(named name: String) throws(VaultError)
  /// Every item, in the order of the names.
  func list() throws(VaultError) -> [VaultItem]
}

/// One item of a vault.
public struct VaultItem: Hashable, Sendable, CustomStringConvertible {
  /// The item's name: `device`, or `entry.` and `order.` with a key.
  public var name: String
  /// What is stored; holds proofs, so it is never printed.
  public var bytes: [UInt8]

  /// An item.
  public init(name: String, bytes: [UInt8]) {
    self.name = name
    self.bytes = bytes
  }

  /// The name and the size, never the bytes.
  public var description: String { "\(name), \(bytes.count) bytes" }
}

/// Why a vault could not do it.
@nonexhaustive
public enum VaultError: Error, Hashable, Sendable {
  /// The device has not been unlocked since it started. Try again later.
  case locked
  /// A limit of the vault.
  case full(reason: String)
  /// Another failure.
  case failed(reason: String)
}

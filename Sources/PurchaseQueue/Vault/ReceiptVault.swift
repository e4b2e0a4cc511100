/// Small storage that outlives an uninstall: the keychain on iOS, a directory elsewhere.
///
/// The queue mirrors into it what a fresh install needs. It may fail, be full, be locked until the device is first
/// unlocked, or hold items of an earlier time; none of that fails a purchase, and none doubles one. Calls block, and
/// come from one thread at a time. That keychain items outlive an uninstall is observed, not promised by Apple.
public protocol ReceiptVault: Sendable {
  /// The most bytes that one item may have. Longer proofs are stored in chunks.
  var itemBytes: Int { get }
  /// Stores or replaces one item, durably: after this returns it survives power loss. All of it or nothing.
  func store(_ item: VaultItem) throws(VaultError)
  /// Removes one item; an absent one is fine.
  func remove(named name: String) throws(VaultError)
  /// The names of all items, sorted.
  func list() throws(VaultError) -> [String]
  /// One item; nil if there is none of that name.
  func item(named name: String) throws(VaultError) -> VaultItem?
}

/// One item of a vault.
public struct VaultItem: Hashable, Sendable, CustomStringConvertible {
  /// The item's name: `device`, `entry.` or `order.` with a key, `proof.` with a number for a chunk.
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

/// Why a vault could not do it. More cases may come with later versions.
@nonexhaustive
public enum VaultError: Error, Hashable, Sendable {
  /// The device has not been unlocked since it started. Try again later.
  case locked
  /// A limit of the vault.
  case full(reason: String)
  /// Another failure.
  case failed(reason: String)
}

extension VaultError: CustomStringConvertible {
  /// What happened and what to do; without anything of the items.
  public var description: String {
    switch self {
    case .locked: "the vault is locked until the device is unlocked. It is tried again at the next opening"
    case .full(let reason): "the vault is full: \(reason)"
    case .failed(let reason): "the vault failed: \(reason)"
    }
  }
}

/// Small storage that outlives an uninstall: the keychain on iOS, a directory elsewhere.
///
/// The queue mirrors into it everything that a new install needs. A vault may fail, be full, be locked until the first
/// unlock of the device, or hold old items; none of these fails or doubles a purchase. Calls block and come from one
/// thread at a time. Processes that share a queue call one after the other for its entries: the queue's lock is held.
/// Keychain items outlive an uninstall by observation only: Apple does not promise it.
public protocol QueueVault: Sendable {
  /// The limit for one item, in bytes. Longer payloads are stored in chunks.
  var itemBytes: Int { get }
  /// Stores or replaces one item, completely or not at all. After the call has returned, the item survives power loss.
  func store(_ item: VaultItem) throws(VaultError)
  /// Removes one item. An absent item is fine. An item that a power cut brings back costs work, and no purchase.
  func remove(named name: String) throws(VaultError)
  /// The names of all items, sorted.
  func list() throws(VaultError) -> [String]
  /// The item with that name; nil if it is absent.
  func item(named name: String) throws(VaultError) -> VaultItem?
}

/// A vault that stores several items in one durable step, which saves syncs.
public protocol BatchingVault: QueueVault {
  /// Stores or replaces the items. When it returns, all of them survive power loss. When it throws, none was stored, or
  /// the first ones.
  func store(_ items: [VaultItem]) throws(VaultError)
}

/// One item of a vault.
public struct VaultItem: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
  /// The item's name: `device`, `entry.` or `order.` with a key, `payload.` with a number for a chunk.
  public var name: String
  /// The stored bytes. They hold payloads, so they are never printed.
  public var bytes: [UInt8]

  /// An item.
  public init(name: String, bytes: [UInt8]) {
    self.name = name
    self.bytes = bytes
  }

  /// The name and the size, never the bytes.
  public var description: String { "\(name), \(bytes.count) bytes" }
  /// As the description.
  public var customMirror: Mirror { Mirror(self, children: ["item": description]) }
}

/// The reason why a call of a vault failed. More cases may come with later versions.
@nonexhaustive
public enum VaultError: Error, Hashable, Sendable {
  /// The device was not unlocked since it started. Try again later.
  case locked
  /// A limit of the vault.
  case full(reason: String)
  /// Another failure.
  case failed(reason: String)
}

extension VaultError: CustomStringConvertible {
  /// What happened and what to do, without the content of any item.
  public var description: String {
    switch self {
    case .locked: "the vault is locked until the device is unlocked. It is tried again at the next opening"
    case .full(let reason): "the vault is full: \(reason)"
    case .failed(let reason): "the vault failed: \(reason)"
    }
  }
}

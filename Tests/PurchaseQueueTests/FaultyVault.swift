import PurchaseQueue
import PurchaseSQLite

/// A directory vault that misbehaves on demand.
final class FaultyVault: QueueVault {
  enum Condition: Sendable {
    case normal
    /// Every call throws `locked`, as before the first unlock after a start.
    case locked
    /// Every call throws `failed`.
    case failing
    /// `store` throws `full`; the other calls work.
    case full
    /// `store` and `remove` do nothing and report success: the items grow old.
    case stale
  }

  private let base: DirectoryVault
  private let current = Locked(Condition.normal)
  /// How many removals still work; nil for all.
  private let removals = Locked<Int?>(nil)

  init(directory: String, itemBytes: Int = 16 << 10) {
    base = DirectoryVault(directory: directory, itemBytes: itemBytes)
  }

  func imitate(_ condition: Condition) { current.withLock { $0 = condition } }
  func allowRemovals(_ count: Int?) { removals.withLock { $0 = count } }

  var itemBytes: Int { base.itemBytes }

  func store(_ item: VaultItem) throws(VaultError) {
    switch try condition() {
    case .full: throw .full(reason: "imitated")
    case .stale: return
    default: try base.store(item)
    }
  }

  func remove(named name: String) throws(VaultError) {
    guard try condition() != .stale else { return }
    guard removals.value != 0 else { throw .failed(reason: "imitated") }
    removals.withLock { $0 = $0.map { $0 - 1 } }
    try base.remove(named: name)
  }

  func list() throws(VaultError) -> [String] {
    _ = try condition()
    return try base.list()
  }

  func item(named name: String) throws(VaultError) -> VaultItem? {
    _ = try condition()
    return try base.item(named: name)
  }

  private func condition() throws(VaultError) -> Condition {
    let condition = current.withLock { $0 }
    switch condition {
    case .locked: throw .locked
    case .failing: throw .failed(reason: "imitated")
    default: return condition
    }
  }
}

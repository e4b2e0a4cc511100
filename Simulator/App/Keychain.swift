import PurchaseQueue

/// The phone's keychain: a directory that outlives the app. It takes one item at a time, as the keychain of iOS does.
struct Keychain: QueueVault {
  private let base: DirectoryVault
  /// True before the first unlock of the device.
  private let isLocked: Bool

  init(_ base: DirectoryVault, isLocked: Bool) {
    self.base = base
    self.isLocked = isLocked
  }

  var itemBytes: Int { base.itemBytes }

  func store(_ item: VaultItem) throws(VaultError) { try unlocked().store(item) }
  func remove(named name: String) throws(VaultError) { try unlocked().remove(named: name) }
  func list() throws(VaultError) -> [String] { try unlocked().list() }
  func item(named name: String) throws(VaultError) -> VaultItem? { try unlocked().item(named: name) }

  private func unlocked() throws(VaultError) -> DirectoryVault {
    if isLocked { throw .locked }
    return base
  }
}

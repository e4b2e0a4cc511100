package import PurchaseQueue

/// A vault next to a disk in memory: each call that changes something is durable when it returns, or did nothing.
package struct DiskVault: QueueVault {
  private let disk: FaultDisk
  package let itemBytes = 16 << 10

  package init(_ disk: FaultDisk) { self.disk = disk }

  package func store(_ item: VaultItem) throws(VaultError) {
    try check(takesSpace: true)
    disk.perform(.vault(name: item.name, bytes: item.bytes))
  }

  package func remove(named name: String) throws(VaultError) {
    try check()
    guard disk.image.vault[name] != nil else { return }
    disk.perform(.vault(name: name, bytes: nil))
  }

  package func list() throws(VaultError) -> [String] {
    try check()
    return disk.image.vault.keys.sorted()
  }

  package func item(named name: String) throws(VaultError) -> VaultItem? {
    try check()
    return disk.image.vault[name].map { VaultItem(name: name, bytes: $0) }
  }

  private func check(takesSpace: Bool = false) throws(VaultError) {
    switch disk.nextFault(takesSpace: takesSpace) {
    case nil: return
    case .ioError: throw .failed(reason: "imitated")
    case .full: throw .full(reason: "imitated")
    }
  }
}

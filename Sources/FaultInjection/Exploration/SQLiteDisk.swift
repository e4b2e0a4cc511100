package import PurchaseQueue
package import PurchaseSync

import class Foundation.NSLock

/// A phone's disk with the real queue on real SQLite, in a folder that is best one in memory: each launch opens the file,
/// a kill drops the connection.
package final class SQLiteDisk: ExplorationDisk {
  private let folder: any DiskFolder
  private let limits: QueueLimits
  private let vault: MemoryVault?

  package init(_ folder: any DiskFolder, limits: QueueLimits, hasVault: Bool) {
    self.folder = folder
    self.limits = limits
    vault = hasVault ? MemoryVault() : nil
  }

  package var hasVault: Bool { vault != nil }
  package func setVault(fails: Bool) { vault?.setFailing(fails) }

  package func open(now: Timestamp) throws(QueueError) -> any SyncStorage {
    try SyncFile(queue: QueueFile(path: folder.path + "/q", limits: limits, vault: vault, now: now))
  }

  package func add(
    _ order: OrderDocument, account: String, to storage: any SyncStorage
  ) throws(QueueError) {
    guard let file = storage as? SyncFile else { throw .invalid(what: "no file of this disk") }
    try file.take([order], account: account)
  }

  package func entries(_ storage: any SyncStorage) throws(QueueError) -> [Entry] {
    guard let file = storage as? SyncFile else { throw .invalid(what: "no file of this disk") }
    return try file.queue.allEntries()
  }

  package func kill(_ close: () -> Void) { folder.undoing(close) }
  package func wipe() throws(QueueError) { try folder.wipe() }
  package func takeImage() throws(QueueError) { try folder.takeImage() }
  package func restoreImage() throws(QueueError) -> Bool { try folder.restoreImage() }
  package func remove() { folder.remove() }
}

/// A vault in memory, which outlives the app and can be locked.
final class MemoryVault: ReceiptVault, Sendable {
  private let lock = NSLock()
  private nonisolated(unsafe) var items: [String: VaultItem] = [:]
  private nonisolated(unsafe) var fails = false

  var itemBytes: Int { 4_096 }

  func setFailing(_ fails: Bool) {
    lock.withLock { unsafe self.fails = fails }
  }

  private func working<R>(_ body: () -> R) throws(VaultError) -> R {
    lock.lock()
    defer { lock.unlock() }
    if unsafe fails { throw .locked }
    return body()
  }

  func store(_ item: VaultItem) throws(VaultError) { try working { unsafe items[item.name] = item } }
  func remove(named name: String) throws(VaultError) { try working { unsafe items[name] = nil } }
  func list() throws(VaultError) -> [String] { try working { unsafe items.keys.sorted() } }
  func item(named name: String) throws(VaultError) -> VaultItem? { try working { unsafe items[name] } }
}

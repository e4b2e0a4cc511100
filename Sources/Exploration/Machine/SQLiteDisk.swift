package import FaultInjection
package import PurchaseQueue
import PurchaseSQLite
package import PurchaseSync

/// A phone's disk with the real queue on real SQLite, best in a folder in memory. Each launch opens the file, and a kill
/// drops the connection.
package final class SQLiteDisk: ExplorationDisk {
  private let folder: any DiskFolder
  private let limits: QueueLimits
  private let vault: MemoryVault?
  private var soon = SoonCommits<[String: FileContent]>()

  package init(_ folder: any DiskFolder, limits: QueueLimits, hasVault: Bool) {
    self.folder = folder
    self.limits = limits
    vault = hasVault ? MemoryVault() : nil
  }

  package var hasVault: Bool { vault != nil }
  package func setVault(fails: Bool) { vault?.setFailing(fails) }

  package func open(now: Timestamp) throws(QueueError) -> any SyncStorage {
    let setup = QueueSetup(path: folder.path + "/q", limits: limits, vault: vault, disk: folder.files)
    return try SyncFile(queue: QueueFile(setup, now: now), newIdentity: { .simulated })
  }

  package func add(
    _ order: OrderDocument, account: String, to storage: any SyncStorage
  ) throws(QueueError) {
    guard let file = storage as? SyncFile else { throw .invalid(what: "the storage is no file of this disk") }
    try file.take([order], account: account)
  }

  package func entries(_ storage: any SyncStorage) throws(QueueError) -> [Entry] {
    guard let file = storage as? SyncFile else { throw .invalid(what: "the storage is no file of this disk") }
    return try file.queue.allEntries()
  }

  package func kill(_ close: () -> Void) { folder.undoing(close) }
  package func beginSoonCommit() {
    if let contents = folder.contents { soon.begin(from: contents) }
  }

  package func dropSoonCommit() { if soon.count > 0 { soon.dropLast() } }
  package func allIsDurable() { soon.allAreDurable() }

  package func cutPower(keeping kept: Int) -> Bool {
    guard folder.contents != nil else { return false }
    if let contents = soon.cut(keeping: kept) { folder.replaceContents(with: contents) }
    return true
  }

  package func wipe() throws(QueueError) {
    soon.allAreDurable()
    try folder.wipe()
  }

  package func takeImage() throws(QueueError) { try folder.takeImage() }
  package func restoreImage() throws(QueueError) -> Bool {
    soon.allAreDurable()
    return try folder.restoreImage()
  }

  package func remove() { folder.remove() }
}

/// A vault in memory. It outlives the app and can be locked.
final class MemoryVault: QueueVault, Sendable {
  private let items = Locked<[String: VaultItem]>([:])
  private let fails = Locked(false)

  var itemBytes: Int { 4_096 }

  func setFailing(_ fails: Bool) { self.fails.withLock { $0 = fails } }

  private func working<R>(_ body: (inout [String: VaultItem]) -> R) throws(VaultError) -> R {
    if fails.value { throw .locked }
    return items.withLock(body)
  }

  func store(_ item: VaultItem) throws(VaultError) { try working { $0[item.name] = item } }
  func remove(named name: String) throws(VaultError) { try working { $0[name] = nil } }
  func list() throws(VaultError) -> [String] { try working { $0.keys.sorted() } }
  func item(named name: String) throws(VaultError) -> VaultItem? { try working { $0[name] } }
}

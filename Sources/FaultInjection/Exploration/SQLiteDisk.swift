import Foundation
package import PurchaseQueue
package import PurchaseSync

/// A phone's disk with the real queue on real SQLite, in a directory that is best one in memory (`/dev/shm`): each launch
/// opens the file, a kill drops the connection.
package final class SQLiteDisk: ExplorationDisk {
  private let directory: String
  private let limits: QueueLimits
  private let vault: MemoryVault?

  /// Files go below this directory, in one of their own.
  package init(below parent: String, named name: String, limits: QueueLimits, hasVault: Bool)
    throws(QueueError)
  {
    directory = parent + "/" + name
    self.limits = limits
    vault = hasVault ? MemoryVault() : nil
    do {
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    } catch {
      throw .cannotOpen(path: directory, reason: error.localizedDescription)
    }
  }

  package var hasVault: Bool { vault != nil }
  package func setVault(fails: Bool) { vault?.setFailing(fails) }

  package func open(now: Timestamp) throws(QueueError) -> any SyncStorage {
    try SyncFile(queue: QueueFile(path: directory + "/q", limits: limits, vault: vault, now: now))
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

  package func wipe() throws(QueueError) {
    try work {
      for name in try names(in: directory) {
        try FileManager.default.removeItem(atPath: directory + "/" + name)
      }
    }
  }

  package func takeImage() throws(QueueError) {
    try work {
      try removeImage()
      try FileManager.default.createDirectory(atPath: image, withIntermediateDirectories: true)
      for name in try names(in: directory) {
        try FileManager.default.copyItem(atPath: directory + "/" + name, toPath: image + "/" + name)
      }
    }
  }

  package func restoreImage() throws(QueueError) -> Bool {
    guard FileManager.default.fileExists(atPath: image) else { return false }
    try wipe()
    try work {
      for name in try names(in: image) {
        try FileManager.default.copyItem(atPath: image + "/" + name, toPath: directory + "/" + name)
      }
    }
    return true
  }

  package func remove() {
    do {
      try removeImage()
      try FileManager.default.removeItem(atPath: directory)
    } catch {
      return  // A directory in memory: it goes with the machine.
    }
  }

  private var image: String { directory + "-image" }

  private func removeImage() throws {
    if FileManager.default.fileExists(atPath: image) { try FileManager.default.removeItem(atPath: image) }
  }

  private func names(in directory: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
  }

  private func work(_ body: () throws -> Void) throws(QueueError) {
    do {
      try body()
    } catch {
      throw .storage(path: directory, reason: error.localizedDescription)
    }
  }
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

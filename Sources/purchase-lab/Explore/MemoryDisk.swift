import Exploration
import MemoryModels
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

/// A phone's disk in memory: a plain queue behind the machine's storage protocol. The vault keeps the orders; entries
/// are the store's to deliver again.
final class MemoryDisk: ExplorationDisk {
  private let limits: QueueLimits
  let hasVault: Bool
  private var storage: MemoryStorage
  private var image: MemoryStorage?
  private var soon = SoonCommits<MemoryStorage>()
  private var vault: [(order: OrderDocument, account: String)] = []
  private var vaultFails = false

  init(limits: QueueLimits, hasVault: Bool) {
    self.limits = limits
    self.hasVault = hasVault
    storage = MemoryStorage(limits: limits)
  }

  func open(now: Timestamp) -> any SyncStorage { storage }

  func add(_ order: OrderDocument, account: String, to storage: any SyncStorage) {
    self.storage.add(order, account: account)
    if hasVault, !vaultFails { vault.append((order, account)) }
  }

  func entries(_ storage: any SyncStorage) -> [Entry] { self.storage.allEntries }

  func kill(_ close: () -> Void) { close() }

  func beginSoonCommit() { soon.begin(from: storage.copy()) }
  func dropSoonCommit() { soon.dropLast() }
  func allIsDurable() { soon.allAreDurable() }

  func cutPower(keeping kept: Int) -> Bool {
    if let rest = soon.cut(keeping: kept) { storage = rest }
    return true
  }

  func wipe() {
    soon.allAreDurable()
    storage = MemoryStorage(limits: limits)
    guard !vaultFails else { return }
    for item in vault { storage.add(item.order, account: item.account) }
  }

  func takeImage() { image = storage.copy() }

  func restoreImage() -> Bool {
    guard let image else { return false }
    soon.allAreDurable()
    storage = image.copy()
    return true
  }

  func setVault(fails: Bool) { vaultFails = fails }
  func remove() {}
}

/// In the exhaustive search, each way on has a copy of its own.
extension MemoryStorage: BranchingStorage {
  func branch() -> any BranchingStorage { copy() }

  func add(_ order: OrderDocument, account: String) {
    book.insert(
      OrderFacts(
        number: order.number, account: account, productID: order.productID, quantity: order.quantity,
        state: order.state, createdAt: order.createdAt, expiresAt: order.expiresAt),
      accountToken: order.accountToken)
  }
}

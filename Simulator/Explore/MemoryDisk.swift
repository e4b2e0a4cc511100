import Exploration
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
  private var vault: [(order: OrderDocument, account: String)] = []
  private var vaultFails = false

  init(limits: QueueLimits, hasVault: Bool) {
    self.limits = limits
    self.hasVault = hasVault
    storage = MemoryStorage(limits: limits)
  }

  func open(now: Timestamp) -> any SyncStorage { storage }

  func add(_ order: OrderDocument, account: String, to storage: any SyncStorage) {
    insert(order, account)
    if hasVault, !vaultFails { vault.append((order, account)) }
  }

  private func insert(_ order: OrderDocument, _ account: String) {
    storage.book.insert(
      OrderFacts(
        number: order.number, account: account, productID: order.productID, quantity: order.quantity,
        state: order.state, createdAt: order.createdAt, expiresAt: order.expiresAt),
      accountToken: order.accountToken)
  }

  func entries(_ storage: any SyncStorage) -> [Entry] { self.storage.allEntries }

  func kill(_ close: () -> Void) { close() }

  func wipe() {
    storage = MemoryStorage(limits: limits)
    guard !vaultFails else { return }
    for item in vault { insert(item.order, item.account) }
  }

  func takeImage() { image = storage.copy() }

  func restoreImage() -> Bool {
    guard let image else { return false }
    storage = image.copy()
    return true
  }

  func setVault(fails: Bool) { vaultFails = fails }
  func remove() {}
}

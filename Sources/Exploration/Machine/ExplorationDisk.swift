package import PurchaseQueue
package import PurchaseSync

/// The disk of a phone. It outlives the processes that open it.
package protocol ExplorationDisk: AnyObject {
  /// Opens the storage, as each launch of a process does. `now` is the phone's clock.
  func open(now: Timestamp) throws(QueueError) -> any SyncStorage
  /// Adds an order to the journal before the purchase.
  func add(_ order: OrderDocument, account: String, to storage: any SyncStorage) throws(QueueError)
  /// Every entry, quarantined ones too.
  func entries(_ storage: any SyncStorage) throws(QueueError) -> [Entry]
  /// Kills the last process that has it open: `close` drops the connection, and nothing that the connection does at its
  /// end reaches the disk.
  func kill(_ close: () -> Void)
  /// A commit that is promised soon follows.
  func beginSoonCommit()
  /// It did not happen.
  func dropSoonCommit()
  /// What is there survives a power cut.
  func allIsDurable()
  /// A power cut, after all processes have died: of the commits since the last durable one, the first `kept` are there.
  /// False if this disk cannot lose what was written.
  func cutPower(keeping kept: Int) -> Bool
  /// Deletes the app. The vault stays.
  func wipe() throws(QueueError)
  /// Makes a backup of everything. No process runs.
  func takeImage() throws(QueueError)
  /// Restores the last backup; returns false if there is none.
  func restoreImage() throws(QueueError) -> Bool
  /// Locks or unlocks the vault.
  func setVault(fails: Bool)
  /// Whether the phone has a vault.
  var hasVault: Bool { get }
  /// Removes all files.
  func remove()
}

/// Makes the disk of a phone.
package typealias DiskMaker = (_ limits: QueueLimits, _ hasVault: Bool) throws(QueueError) ->
  any ExplorationDisk

package import PurchaseQueue
package import PurchaseSync

/// The disk of a phone: what its processes open, and what outlives them.
package protocol ExplorationDisk: AnyObject {
  /// Opens what is there, as each launch of a process does. `now` by the phone's clock.
  func open(now: Timestamp) throws(QueueError) -> any SyncStorage
  /// Puts an order into the journal, before anybody pays.
  func add(_ order: OrderDocument, account: String, to storage: any SyncStorage) throws(QueueError)
  /// Every entry, quarantined ones too.
  func entries(_ storage: any SyncStorage) throws(QueueError) -> [Entry]
  /// The last process that had it open is killed: `close` drops its connection, and nothing that the connection does
  /// at its end reaches the disk.
  func kill(_ close: () -> Void)
  /// The app was deleted. The vault stays.
  func wipe() throws(QueueError)
  /// A backup of everything; no process runs.
  func takeImage() throws(QueueError)
  /// The phone is as it was at its last backup; without one, nothing happens and it returns false.
  func restoreImage() throws(QueueError) -> Bool
  /// The vault is locked, or works again.
  func setVault(fails: Bool)
  /// Whether there is one.
  var hasVault: Bool { get }
  /// The end: nothing of it is needed any longer.
  func remove()
}

/// How to make the disk of a phone: with which limits, and with a vault or without.
package typealias DiskMaker = (_ limits: QueueLimits, _ hasVault: Bool) throws(QueueError) ->
  any ExplorationDisk

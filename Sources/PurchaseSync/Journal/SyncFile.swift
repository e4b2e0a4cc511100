import Foundation
package import PurchaseQueue

/// The machine's storage: queue, order journal and pending updates in one file.
package final class SyncFile {
  package let queue: QueueFile
  let journal: OrderJournal
  let statements: UpdateStatements
  /// The app receipt that was decoded last, and the keys of its transactions.
  var lastReceipt: (proof: Payload, keys: [EntryKey])?
  /// The retry state that was read last, and its text in the file.
  var lastRetryState: (text: String, state: RetryState)?

  /// When old orders and tombstones were dropped last.
  private var prunedAt: Timestamp?
  /// Whether the vault has been read, and agrees with the identity in this file.
  var isIdentityChecked = false
  /// How often the vault failed to answer whether it holds an identity.
  var failedVaultReads = 0

  /// Makes the identity of a new device.
  let newIdentity: () -> DeviceIdentity

  /// Takes an open queue, creates its own tables in the same file, and restores the items that an earlier
  /// install left in the vault.
  package init(
    queue: QueueFile, newIdentity: @escaping () -> DeviceIdentity = { DeviceIdentity(from: UUID.init) }
  ) throws(QueueError) {
    self.queue = queue
    self.newIdentity = newIdentity
    journal = try OrderJournal(queue)
    statements = UpdateStatements(queue.connection)
    try restoreOrders()
    checkIdentity()
  }

  // MARK: Maintenance

  /// How long orders with a transaction are kept, in milliseconds. They are kept as long as tombstones, and as many.
  private static var orderTime: Int64 { 400 * 86_400_000 }
  /// How long orders without a transaction are kept, in milliseconds. No deferred payment takes as long.
  private static var unpaidTime: Int64 { 60 * 86_400_000 }

  /// Tidies up. Cheap if there is nothing to do. Never waits: if another process writes now, the next pause does it.
  ///
  /// - Parameter isShort: More is to come soon, and another pause after it.
  package func maintain(now: Timestamp, isShort: Bool = false) throws(QueueError) {
    do throws(QueueError) {
      try queue.withoutWaiting { () throws(QueueError) in try self.tidyUp(now: now, isShort: isShort) }
    } catch .busy {
      queue.leaveLine()
    }
  }

  /// How often old orders and tombstones are looked for, in milliseconds: it reads all of them, and they are kept for days.
  private static var pruningInterval: Int64 { 3_600_000 }

  private func tidyUp(now: Timestamp, isShort: Bool) throws(QueueError) {
    // A clock that went back has made nothing old.
    if isShort || prunedAt.map({ now.milliseconds - $0.milliseconds < Self.pruningInterval }) ?? false {
      return try queue.maintainLog(now: now, isShort: isShort)
    }
    try prune(now: now)
    try queue.maintain(now: now)
    prunedAt = now
  }

  private func prune(now: Timestamp) throws(QueueError) {
    try queue.transaction { () throws(QueueError) in
      let pruned = try self.journal.prune(
        keeping: self.queue.limits.tombstones,
        (
          bound: now.adding(milliseconds: -Self.orderTime), unpaid: now.adding(milliseconds: -Self.unpaidTime)
        ))
      // Before the commit: an order that a kill left only in the vault would be restored as open at the next
      // opening.
      if self.queue.hasVault { for number in pruned { self.queue.unprotect("order." + number) } }
    }
  }
}

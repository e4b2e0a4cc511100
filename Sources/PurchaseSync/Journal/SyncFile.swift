import Foundation
package import PurchaseQueue

/// The machine's storage: queue, order journal and notes in one file.
package final class SyncFile {
  package let queue: QueueFile
  let journal: OrderJournal
  let notes: SyncNotes
  /// The app receipt that was decoded last, and the keys of its transactions.
  var lastReceipt: (proof: Payload, keys: [EntryKey])?
  /// The retry state that was read last, and its text in the file.
  var lastRetryState: (text: String, state: RetryState)?

  /// Whether the vault has been read, and agrees with the identity in this file.
  var isIdentityChecked = false

  /// Takes an open queue, creates its own tables in the same file, and restores the items that an earlier
  /// install left in the vault.
  package init(queue: QueueFile) throws(QueueError) {
    self.queue = queue
    journal = try OrderJournal(queue)
    notes = SyncNotes(file: queue)
    try restoreOrders()
    checkIdentity()
  }

  /// How long capacity is reserved for a purchase whose order has no end, in milliseconds: as long as Ask to
  /// Buy may take.
  private static var reservationTime: Int64 { 86_400_000 }
  /// How long ended orders are kept, in milliseconds. They are kept as long as tombstones, and as many.
  private static var orderTime: Int64 { 400 * 86_400_000 }

  // MARK: Orders

  /// Reserves capacity for a purchase and commits the key of its order request, before the user pays.
  package func request(
    account: String, product: String, quantity: Int, proposing key: String, waiting: Set<String>,
    now: Timestamp
  ) throws(QueueError) -> String {
    try queue.transaction { () throws(QueueError) in
      let key = try self.journal.request(
        account: account, product: product, quantity: quantity, proposing: key, waiting: waiting)
      try self.queue.reserve(key, until: now.adding(milliseconds: Self.reservationTime), now: now)
      return key
    }
  }

  /// Commits a requested order, then copies it to the vault. If the vault fails, a reinstall loses the
  /// binding, not the purchase. Returns nil and changes nothing if another process found the request
  /// unanswered too and already has the answer.
  package func save(
    _ document: OrderDocument, account: String, answering key: String, now: Timestamp
  ) throws(QueueError) -> PurchaseOrder? {
    let order = PurchaseOrder(document, account: account)
    let isMine = try queue.transaction { () throws(QueueError) in
      try self.queue.cancelReservation(key)
      guard try self.journal.endRequest(key) else { return false }
      let until = document.expiresAt ?? now.adding(milliseconds: Self.reservationTime)
      try self.queue.reserve(order.number, until: until, now: now)
      try self.merge(order)
      return true
    }
    guard isMine else { return nil }
    queue.checkpoint?(.orderCommitted)
    mirror(document, account: account)
    return order
  }

  /// Takes over orders for which the backend still waits: those of another device or install.
  package func take(_ documents: [OrderDocument], account: String) throws(QueueError) {
    try queue.transaction { () throws(QueueError) in
      for document in documents { try self.merge(PurchaseOrder(document, account: account)) }
    }
  }

  /// Merges an order from the backend. A known order keeps its binding and its account; only its state and
  /// its expiry may change.
  func merge(_ order: PurchaseOrder) throws(QueueError) {
    guard var known = try journal.row(number: order.number) else {
      return try journal.write(JournalRow(order, boundTo: nil))
    }
    guard known.boundTo == nil else { return }
    known.order.state = order.state
    known.order.expiresAt = order.expiresAt
    try journal.write(known)
  }

  /// Sets the state that the app gives an unpaid order. A paid order keeps its state. Cancelling releases the
  /// reserved capacity.
  func set(_ state: OrderState, of number: String) throws(QueueError) -> PurchaseOrder? {
    try queue.transaction { () throws(QueueError) in
      guard var row = try self.journal.row(number: number) else { return nil }
      guard row.boundTo == nil, row.order.state != .delivered else { return row.order }
      row.order.state = state
      try self.journal.write(row)
      if state == .cancelled { try self.queue.cancelReservation(number) }
      return row.order
    }
  }

  // MARK: Maintenance

  /// Tidies up. Cheap if there is nothing to do. Never waits: if another process writes now, the next pause does it.
  package func maintain(now: Timestamp) throws(QueueError) {
    do throws(QueueError) {
      try queue.withoutWaiting { () throws(QueueError) in try self.tidyUp(now: now) }
    } catch .busy {
      queue.leaveLine()
    }
  }

  private func tidyUp(now: Timestamp) throws(QueueError) {
    try queue.transaction { () throws(QueueError) in
      let pruned = try self.journal.prune(
        keeping: self.queue.limits.tombstones, madeAfter: now.adding(milliseconds: -Self.orderTime))
      // Before the commit: an order that a kill left only in the vault would be restored as open at the next
      // opening.
      if self.queue.hasVault { for number in pruned { self.queue.unprotect("order." + number) } }
    }
    try queue.maintain(now: now)
  }
}

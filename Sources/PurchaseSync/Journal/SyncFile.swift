import Foundation
package import PurchaseQueue

/// The machine's storage: queue, order journal and notes in one file.
package final class SyncFile {
  package let queue: QueueFile
  let journal: OrderJournal
  let notes: SyncNotes
  /// The app receipt that was decoded last, and what is in it.
  var lastReceipt: (proof: Proof, keys: [EntryKey])?
  /// The retry state that was read last, and the text that said it.
  var lastRetryState: (text: String, state: RetryState)?

  /// Takes an open queue, makes its own tables beside it, and fetches from the vault what an earlier install left.
  package init(queue: QueueFile) throws(QueueError) {
    self.queue = queue
    journal = try OrderJournal(queue)
    notes = SyncNotes(file: queue)
    try restoreOrders()
    protectDevice()
  }

  /// How long room is kept for a purchase whose order names no end: as long as Ask to Buy may take.
  private static var reservationTime: Int64 { 86_400_000 }
  /// Orders that ended are kept as long, and as many, as tombstones.
  private static var orderTime: Int64 { 400 * 86_400_000 }

  // MARK: Orders

  /// Reserves room for a purchase and commits the key of the request for its order, before anybody pays.
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

  /// Commits an order that was asked for, then mirrors it. A vault that fails costs the binding after a reinstall, not
  /// the purchase. Nil, and nothing is changed, if the request has its answer already: another process had found it
  /// unanswered too, and has the order.
  package func save(
    _ document: OrderDocument, account: String, answering key: String, now: Timestamp
  ) throws(QueueError) -> Order? {
    let order = Order(document, account: account)
    let isMine = try queue.transaction { () throws(QueueError) in
      try self.queue.cancelReservation(key)
      guard try self.journal.endRequest(key) else { return false }
      let until = document.expiresAt ?? now.adding(milliseconds: Self.reservationTime)
      try self.queue.reserve(order.number, until: until, now: now)
      try self.merge(order)
      return true
    }
    guard isMine else { return nil }
    queue.hook?("order.committed")
    mirror(document, account: account)
    return order
  }

  /// Takes over orders that the backend still waits for: those of another device or install.
  package func take(_ documents: [OrderDocument], account: String) throws(QueueError) {
    try queue.transaction { () throws(QueueError) in
      for document in documents { try self.merge(Order(document, account: account)) }
    }
  }

  /// An order that is here keeps its binding and its account; only the state may go on.
  func merge(_ order: Order) throws(QueueError) {
    guard var known = try journal.row(number: order.number) else {
      return try journal.write(JournalRow(order, boundTo: nil))
    }
    guard known.boundTo == nil else { return }
    known.order.state = order.state
    known.order.expiresAt = order.expiresAt
    try journal.write(known)
  }

  /// What the app says of an order that is not paid yet; one that is, stays so. Its room is free when it is given up.
  func set(_ state: OrderState, of number: String) throws(QueueError) -> Order? {
    try queue.transaction { () throws(QueueError) in
      guard var row = try self.journal.row(number: number) else { return nil }
      guard row.boundTo == nil, row.order.state != .delivered else { return row.order }
      row.order.state = state
      try self.journal.write(row)
      if state == .cancelled { try self.queue.cancelReservation(number) }
      return row.order
    }
  }

  // MARK: In a pause

  /// Tidies up; cheap if there is nothing to do.
  package func maintain(now: Timestamp) throws(QueueError) {
    try queue.transaction { () throws(QueueError) in
      let pruned = try self.journal.prune(
        keeping: self.queue.limits.tombstones, madeAfter: now.adding(milliseconds: -Self.orderTime))
      // Before the commit: what a kill left in the vault alone, the next opening would bring back, open again.
      if self.queue.hasVault { for number in pruned { self.queue.unprotect("order." + number) } }
    }
    try queue.maintain(now: now)
  }
}

package import Foundation
package import PurchaseQueue

/// The machine's storage: queue and order journal in one file.
package final class SyncFile: SyncStorage {
  package let queue: QueueFile
  let journal: OrderJournal

  package init(queue: QueueFile) throws(QueueError) {
    self.queue = queue
    journal = try OrderJournal(queue)
    try restoreOrders()
  }

  package func order(accountToken: UUID) throws(QueueError) -> Order? {
    try journal.order(accountToken: accountToken)
  }

  package func enqueue(_ new: NewEntry, now: Timestamp) throws(QueueError) -> Enqueued {
    let journal = self.journal
    return try queue.enqueue(new, now: now) { () throws(QueueError) in
      if let number = new.orderNumber { try journal.mark(number, .paid) }
    }
  }

  package func acknowledge(_ settlements: [Settlement], now: Timestamp) throws(QueueError) -> [Tombstone] {
    let journal = self.journal
    let tombstones = try queue.acknowledge(settlements, now: now) { (buried) throws(QueueError) in
      if let number = buried.orderNumber { try journal.mark(number, .delivered) }
    }
    for number in tombstones.compactMap(\.orderNumber) { queue.unprotect("order." + number) }
    return tombstones
  }

  package func lanes() throws(QueueError) -> [Lane] { try queue.lanes() }
  package func entries(in lane: Lane, limit: Int) throws(QueueError) -> [Entry] {
    try queue.entries(in: lane, limit: limit)
  }
  package func recordAttempt(_ keys: [EntryKey], now: Timestamp) throws(QueueError) {
    try queue.recordAttempt(keys, now: now)
  }
  package func postpone(
    _ key: EntryKey, until: Timestamp, reason: String, now: Timestamp
  ) throws(QueueError) {
    try queue.postpone(key, until: until, reason: reason, now: now)
  }
  package func quarantine(_ key: EntryKey, reason: String, now: Timestamp) throws(QueueError) -> Bool {
    do throws(QueueError) {
      try queue.quarantine(key, reason: reason, now: now)
      return true
    } catch .queueFull {
      return false
    }
  }
  package func tombstone(_ key: EntryKey) throws(QueueError) -> Tombstone? { try queue.tombstone(key) }
  package func tombstonesWithDuties() throws(QueueError) -> [Tombstone] { try queue.tombstonesWithDuties() }
  package func markFinished(_ key: EntryKey) throws(QueueError) { try queue.markFinished(key) }
  package func markSeen(_ key: EntryKey) throws(QueueError) { try queue.markSeen(key) }

  // MARK: Vault

  /// What a fresh install needs to bind a transaction to its order.
  private struct MirroredOrder: Codable {
    var account: String
    var document: OrderDocument
  }

  /// Reserves room for a purchase and commits the key of the request for its order, before anybody pays.
  func request(
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

  /// How long room is kept for a purchase whose order names no end: as long as Ask to Buy may take.
  private static var reservationTime: Int64 { 86_400_000 }

  /// Commits an order, then mirrors it. A vault that fails costs the binding after a reinstall, not the purchase.
  func save(
    _ document: OrderDocument, account: String, answering key: String, now: Timestamp
  ) throws(QueueError) -> Order {
    let order = Order(document, account: account)
    try queue.transaction { () throws(QueueError) in
      try self.queue.cancelReservation(key)
      let until = document.expiresAt ?? now.adding(milliseconds: Self.reservationTime)
      try self.queue.reserve(order.number, until: until, now: now)
      try self.journal.save(order, answering: key)
    }
    queue.hook?("order.committed")
    do {
      let bytes = Array(try JSONEncoder().encode(MirroredOrder(account: account, document: document)))
      try queue.protect(bytes, named: "order." + order.number)
    } catch {
      queue.hook?("vault.order-failed")
    }
    return order
  }

  /// Orders of the vault that the journal does not have: those of an earlier install.
  private func restoreOrders() throws(QueueError) {
    let items: [VaultItem]
    do throws(VaultError) {
      items = try queue.protected(prefix: "order.")
    } catch {
      queue.hook?("vault.list-failed")
      return
    }
    for item in items {
      guard let mirrored = Self.decode(item) else { continue }
      let order = Order(mirrored.document, account: mirrored.account)
      guard try journal.order(accountToken: order.accountToken) == nil else { continue }
      try journal.save(order)
    }
  }

  private static func decode(_ item: VaultItem) -> MirroredOrder? {
    do {
      return try JSONDecoder().decode(MirroredOrder.self, from: Data(item.bytes))
    } catch {
      return nil
    }
  }

  /// The device's name: of this file, else of the vault, else the proposed one. Nil while the vault is locked: a
  /// locked vault never yields a new name.
  func device(proposing proposed: UUID) throws(QueueError) -> UUID? {
    if let known = try queue.fact("device") { return UUID(uuidString: known) }
    let items: [VaultItem]
    do throws(VaultError) {
      items = try queue.protected(prefix: "device")
    } catch {
      return nil
    }
    let stored = items.first.flatMap { UUID(uuidString: String(decoding: $0.bytes, as: UTF8.self)) }
    let device = stored ?? proposed
    if stored == nil {
      do throws(VaultError) {
        try queue.protect(Array(device.uuidString.utf8), named: "device")
      } catch {
        queue.hook?("vault.device-failed")
      }
    }
    try queue.transaction { () throws(QueueError) in try self.queue.setFact("device", device.uuidString) }
    return device
  }
}

extension Order {
  init(_ document: OrderDocument, account: String) {
    self.init(
      number: document.number, accountToken: document.accountToken, account: account,
      productID: document.productID, quantity: document.quantity, state: document.state,
      createdAt: document.createdAt)
  }
}

import PurchaseQueue

/// The vault's other items than entries, which survive an uninstall: open orders. `SyncFile+Device` has the device's
/// identity.
extension SyncFile {
  /// The values that a fresh install needs to bind a transaction to its order.
  private struct MirroredOrder: Codable {
    var account: String
    var document: OrderDocument
    var note: OrderNote?
    /// True if the device made the order; absent otherwise.
    var isDeviceMade: Bool?
  }

  func mirror(_ row: OrderRow) {
    let order = row.order
    let document = OrderDocument(
      number: order.number, accountToken: order.accountToken, productID: order.productID,
      quantity: order.quantity, state: order.state, createdAt: order.createdAt, expiresAt: order.expiresAt)
    let mirrored = MirroredOrder(
      account: order.account, document: document, note: order.note == OrderNote() ? nil : order.note,
      isDeviceMade: row.maker == .device ? true : nil)
    do {
      try queue.protect(try mirrored.json(), named: Self.orderPrefix + order.number)
    } catch {
      queue.diagnostics?(Diagnostic(.vaultStore, Self.orderPrefix + order.number, error))
    }
  }

  /// After a state has changed, a reinstall is not to bring back the earlier one. A closed order is not needed again. The
  /// vault holds the orders that this device made.
  func mirrorState(of row: OrderRow) {
    guard queue.hasVault else { return }
    if [.delivered, .refunded, .partlyRefunded, .alreadyOwned].contains(row.order.state) {
      queue.unprotect(Self.orderPrefix + row.order.number)
    } else if row.isOwn {
      mirror(row)
    }
  }

  private static var orderPrefix: String { "order." }
  /// The most orders that one opening reads from the vault. An installation keeps fewer unpaid ones.
  private static var mostRestored: Int { 512 }

  /// Restores orders of an earlier install that are in the vault and not in the journal. If the vault failed
  /// at the first opening, an entry may come back at a later one; its order is bound then.
  ///
  /// Reads only the items of orders that the journal lacks, so that an opening costs one list of names.
  func restoreOrders() throws(QueueError) {
    guard queue.hasVault else { return }
    let known = try journal.orders().map(\.order.number)
    let items: [VaultItem]
    do throws(VaultError) {
      items = try queue.protected(
        prefix: Self.orderPrefix, except: known.map { Self.orderPrefix + $0 }, limit: Self.mostRestored)
    } catch {
      queue.diagnostics?(Diagnostic(.vaultRead, Self.orderPrefix, error))
      return
    }
    for item in items {
      guard let mirrored = MirroredOrder(json: item.bytes) else {
        // It stays in the vault: a later version may read it.
        let error = VaultError.failed(reason: "\(item.bytes.count) bytes that are no order")
        queue.diagnostics?(Diagnostic(.vaultRead, item.name, error))
        continue
      }
      var order = PurchaseOrder(mirrored.document, account: mirrored.account)
      order.note = mirrored.note ?? OrderNote()
      guard try journal.row(number: order.number) == nil else { continue }
      // Whether the backend knows an order of the device is not in the vault. To register it again changes nothing.
      let row = OrderRow(order, by: mirrored.isDeviceMade == true ? .device : .backend, .restored)
      try queue.transaction { () throws(QueueError) in try self.journal.write(row) }
    }
    try bindRestoredEntries()
  }

  /// An entry that the queue restored from the vault names its order.
  private func bindRestoredEntries() throws(QueueError) {
    for entry in try queue.allEntries() {
      guard let number = entry.orderNumber, let row = try journal.row(number: number), row.boundTo == nil
      else {
        continue
      }
      try queue.transaction { () throws(QueueError) in try self.journal.bind(entry.key, to: number) }
    }
  }
}

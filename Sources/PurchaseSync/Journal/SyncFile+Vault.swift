import Foundation
import PurchaseQueue

/// The vault's items beside the entries, which survive an uninstall: open orders and the device's name.
extension SyncFile {
  /// The values that a fresh install needs to bind a transaction to its order.
  private struct MirroredOrder: Codable {
    var account: String
    var document: OrderDocument
  }

  func mirror(_ document: OrderDocument, account: String) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    do {
      let bytes = Array(try encoder.encode(MirroredOrder(account: account, document: document)))
      try queue.protect(bytes, named: "order." + document.number)
    } catch {
      queue.diagnostics?(Diagnostic(.vaultStore, "order." + document.number, error))
    }
  }

  /// Restores orders of an earlier install that are in the vault and not in the journal. If the vault failed
  /// at the first opening, an entry may come back at a later one; its order is bound then.
  func restoreOrders() throws(QueueError) {
    let items: [VaultItem]
    do throws(VaultError) {
      items = try queue.protected(prefix: "order.")
    } catch {
      queue.diagnostics?(Diagnostic(.vaultRead, "order.", error))
      return
    }
    guard !items.isEmpty else { return }
    // An entry that the queue restored from the vault names its order.
    let owners = Dictionary(grouping: try queue.allEntries(), by: \.orderNumber)
    for item in items {
      guard let mirrored = Self.decode(item) else { continue }
      let order = PurchaseOrder(mirrored.document, account: mirrored.account)
      let known = try journal.row(number: order.number)
      guard known?.boundTo == nil else { continue }
      let owners = owners[order.number, default: []]
      guard known == nil || !owners.isEmpty else { continue }
      try queue.transaction { () throws(QueueError) in
        if known == nil { try self.merge(order) }
        for entry in owners { try self.journal.bind(entry.key, to: order.number) }
      }
    }
  }

  private static func decode(_ item: VaultItem) -> MirroredOrder? {
    do {
      return try JSONDecoder().decode(MirroredOrder.self, from: Data(item.bytes))
    } catch {
      return nil
    }
  }

  /// The device's name: from this file, else from the vault, else the proposed one. Nil while the vault is
  /// locked: a locked vault never leads to a new name.
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
    if stored == nil { protect(device.uuidString) }
    // Another process of this installation may have stored its name in the meantime. That name counts.
    let name = try queue.transaction { () throws(QueueError) in
      if let known = try self.queue.fact("device") { return known }
      try self.queue.setFact("device", device.uuidString)
      return device.uuidString
    }
    if name != device.uuidString { protectDevice() }
    return UUID(uuidString: name)
  }

  private func protect(_ name: String) {
    do throws(VaultError) {
      try queue.protect(Array(name.utf8), named: "device")
    } catch {
      queue.diagnostics?(Diagnostic(.vaultStore, "device", error))
    }
  }

  /// Runs at each opening. Writes the device's name to the vault if the vault failed when the name was
  /// chosen, or if it holds a name that another process proposed.
  func protectDevice() {
    do {
      guard queue.hasVault, let name = try queue.fact("device") else { return }
      let items = try queue.protected(prefix: "device")
      if items.first?.bytes != Array(name.utf8) { protect(name) }
    } catch {
      queue.diagnostics?(Diagnostic(.vaultRead, "device", error))
    }
  }
}

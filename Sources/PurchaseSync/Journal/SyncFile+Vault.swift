import Foundation
import PurchaseQueue

/// The vault's items beside the entries, which survive an uninstall: open orders. `SyncFile+Device` has the device's
/// identity.
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
}

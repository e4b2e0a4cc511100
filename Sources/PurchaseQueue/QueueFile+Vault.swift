import PurchaseSQLite

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The mirror in the vault: what a fresh install starts from. Its failing never fails a purchase.
extension QueueFile {
  /// The item of one entry.
  private struct Mirror: Codable {
    var key: String
    var lane: String
    var orderNumber: String?
    var details: String
    var enqueuedAt: Int64
    var proofs: [MirroredProof]
  }

  private struct MirroredProof: Codable {
    var kind: String
    var data: Data
  }

  /// Copies the entry into the vault; what cannot be copied is flagged and counts on the store's redelivery.
  func mirror(_ entry: Entry) {
    guard let vault else { return }
    do {
      var proofs: [MirroredProof] = []
      for reference in entry.proofs {
        proofs.append(MirroredProof(kind: reference.kind, data: Data(try proof(reference).bytes)))
      }
      let mirror = Mirror(
        key: entry.key.rawValue, lane: entry.lane.text, orderNumber: entry.orderNumber,
        details: entry.details,
        enqueuedAt: entry.enqueuedAt.milliseconds, proofs: proofs)
      let bytes = Array(try JSONEncoder().encode(mirror))
      try vault.store(VaultItem(name: "entry." + entry.key.rawValue, bytes: bytes))
    } catch {
      flagUnprotected(entry.key)
    }
  }

  private func flagUnprotected(_ key: EntryKey) {
    do throws(QueueError) {
      try update([key]) { $0.isUnprotected = true }
    } catch {
      // The entry itself is durable, and the flag is only news about its copy.
      hook?("vault.flag-failed")
    }
  }

  /// Stores an item for a companion, such as an open order.
  package func protect(_ bytes: [UInt8], named name: String) throws(VaultError) {
    try vault?.store(VaultItem(name: name, bytes: bytes))
  }

  /// Removes an item. A stale one costs an upload after a reinstall, and nothing else.
  package func removeMirror(_ name: String) {
    do throws(VaultError) {
      try vault?.remove(named: name)
    } catch {
      hook?("vault.remove-failed")
    }
  }

  /// The vault's items whose name begins so.
  package func protected(prefix: String) throws(VaultError) -> [VaultItem] {
    try vault?.list().filter { $0.name.hasPrefix(prefix) } ?? []
  }

  /// Fills a fresh file from the vault, in one commit. A vault that cannot be read now is tried again at the next
  /// open: the file does not count as restored until then.
  func restoreFromVault(now: Timestamp) throws(QueueError) {
    let items: [VaultItem]
    do throws(VaultError) {
      items = try protected(prefix: "entry.")
    } catch {
      hook?("vault.list-failed")
      return
    }
    let mirrors = items.compactMap(Self.decode).sorted { $0.enqueuedAt < $1.enqueuedAt }
    try transaction { () throws(QueueError) in
      for mirror in mirrors {
        let proofs = mirror.proofs.map { Proof(kind: $0.kind, bytes: Array($0.data)) }
        let new = NewEntry(
          key: EntryKey(rawValue: mirror.key), lane: Lane(text: mirror.lane), orderNumber: mirror.orderNumber,
          details: mirror.details, proofs: proofs)
        // Smaller limits than those of the install that filled the vault: the rest waits there for a later open.
        guard try self.hasRoom(for: new) else { return }
        _ = try self.insertOrCollapse(new, now: Timestamp(milliseconds: mirror.enqueuedAt))
      }
      try self.setFact("restored", "\(now.milliseconds)")
    }
  }

  private func hasRoom(for new: NewEntry) throws(QueueError) -> Bool {
    let held = try totals()
    let sizes = new.proofs.map(\.bytes.count)
    return held.entries < limits.entries && held.bytes + sizes.reduce(0, +) <= limits.totalBytes
      && sizes.allSatisfy { $0 <= limits.proofBytes }
  }

  /// Nil for what is no entry's item: bytes of a vault are data from outside.
  private static func decode(_ item: VaultItem) -> Mirror? {
    do {
      return try JSONDecoder().decode(Mirror.self, from: Data(item.bytes))
    } catch {
      return nil
    }
  }

  /// A small named text in the file.
  package func fact(_ name: String) throws(QueueError) -> String? {
    try read { () throws(SQLiteError) in try statements.fact.first([.text(name)]) { $0.text(0) } }
  }

  /// Writes a named text; in the transaction that is open, if there is one.
  package func setFact(_ name: String, _ value: String) throws(QueueError) {
    try read { () throws(SQLiteError) in try statements.setFact.run([.text(name), .text(value)]) }
  }
}

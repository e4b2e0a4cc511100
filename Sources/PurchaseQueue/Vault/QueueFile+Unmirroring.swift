import PurchaseSQLite

/// What is removed from the vault, and the items of other modules. Called under the inter-process lock, as mirroring is.
extension QueueFile {
  /// Removes the mirrors of acknowledged entries: the item first, then chunks that no other entry needs.
  func removeMirrors(of entries: [Entry]) {
    guard let vault, let first = entries.first else { return }
    unflagged.subtract(entries.map(\.key))
    do throws(QueueError) {
      try exclusively { () throws(QueueError) in
        for entry in entries { try self.removeMirror(of: entry, from: vault) }
      }
    } catch {
      // The next opening removes the items: their tombstones show that the entries are settled.
      diagnostics?(Diagnostic(.vaultRemove, VaultMirror.itemName(first.key), error))
    }
  }

  /// Mirrors an entry of which a part was settled, and removes the chunks of the settled payloads.
  func replaceMirror(of key: EntryKey, without payloads: [PayloadReference], now: Timestamp) {
    guard let vault else { return }
    mirror(key, now: now)
    do throws(QueueError) {
      try exclusively { () throws(QueueError) in try self.removeUnsharedChunks(of: payloads, from: vault) }
    } catch {
      // The next opening removes unused chunks.
      diagnostics?(Diagnostic(.vaultRemove, VaultMirror.itemName(key), error))
    }
  }

  private func removeMirror(of entry: Entry, from vault: any QueueVault) throws(QueueError) {
    // Queued again since by another process, which has mirrored it.
    guard try storedEntry(entry.key) == nil else { return }
    do throws(VaultError) {
      try vault.remove(named: VaultMirror.itemName(entry.key))
    } catch {
      // The next opening removes the item: its tombstone shows that the entry is settled.
      diagnostics?(Diagnostic(.vaultRemove, VaultMirror.itemName(entry.key), error))
      return
    }
    try removeUnsharedChunks(of: entry.payloads, from: vault)
  }

  /// Removes the chunks of payloads that the file does not hold any more.
  func removeUnsharedChunks(
    of payloads: [PayloadReference], from vault: any QueueVault
  ) throws(QueueError) {
    for reference in payloads {
      guard let id = reference.id, try !isStored(id) else { continue }
      let name = VaultMirror.payloadName(checksum: id, size: reference.size)
      removeChunks(of: name, count: chunkCount(reference.size, in: vault), from: vault)
    }
  }

  private func isStored(_ id: Int64) throws(QueueError) -> Bool {
    try first(statements.payloads.isStored, [.integer(id)]) { _ in true }
      ?? false
  }

  /// Removes chunks that no item names. The file says what its own entries need; only the items of others are read.
  func removeUnusedChunks(from vault: any QueueVault) {
    do throws(VaultError) {
      let names = try vault.list()
      let chunks = names.filter { $0.hasPrefix(VaultMirror.chunkPrefix) }
      guard !chunks.isEmpty else { return }
      var (used, known) = try payloadsInUse()
      for name in names where name.hasPrefix(VaultMirror.prefix) && !known.contains(name) {
        guard let item = try vault.item(named: name), let mirror = VaultMirror(item) else { continue }
        used.formUnion(mirror.payloads.compactMap(\.name))
      }
      // The last chunk of a payload goes first: while it is there, all of them are taken to be there.
      let unused = chunks.filter { !used.contains(VaultMirror.payloadName(ofChunk: $0)) }
        .sorted { VaultMirror.number(ofChunk: $0) > VaultMirror.number(ofChunk: $1) }
      for name in unused { try vault.remove(named: name) }
    } catch {
      // The chunks take space in the vault until the next opening.
      diagnostics?(Diagnostic(.vaultRemove, VaultMirror.chunkPrefix, error))
    }
  }

  /// The names of the payloads in the file, and the items of the entries that have all of their payloads there.
  private func payloadsInUse() throws(VaultError) -> (payloads: Set<String>, items: Set<String>) {
    var (payloads, items): (Set<String>, Set<String>) = ([], [])
    do throws(QueueError) {
      for entry in try allEntries() where entry.state != .damaged {
        // The vault may hold the bytes of a payload that the file has only by reference.
        if !entry.payloads.contains(where: \.isByReference) { items.insert(VaultMirror.itemName(entry.key)) }
        for reference in entry.payloads {
          guard let id = reference.id else { continue }
          payloads.insert(VaultMirror.payloadName(checksum: id, size: reference.size))
        }
      }
    } catch {
      throw .failed(reason: "the entries cannot be read: \(error.description)")
    }
    return (payloads, items)
  }

  func removeChunks(of payload: String, count: Int, from vault: any QueueVault) {
    do throws(VaultError) {
      for index in (0..<count).reversed() { try vault.remove(named: VaultMirror.chunkName(payload, index)) }
    } catch {
      diagnostics?(Diagnostic(.vaultRemove, VaultMirror.chunkPrefix + payload, error))
    }
  }

  // MARK: Items of other modules

  /// Stores an item of another module, such as an open order.
  package func protect(_ bytes: [UInt8], named name: String) throws(VaultError) {
    try vault?.store(VaultItem(name: VaultFileName.short(name), bytes: bytes))
  }

  /// Removes an item of another module. A stale item only costs some work after a reinstall.
  package func unprotect(_ name: String) {
    do throws(VaultError) {
      try vault?.remove(named: VaultFileName.short(name))
    } catch {
      diagnostics?(Diagnostic(.vaultRemove, name, error))
    }
  }

  /// The items whose name begins with `prefix`: at most `limit`, and none of those that the caller knows.
  package func protected(
    prefix: String, except known: [String] = [], limit: Int = .max
  ) throws(VaultError) -> [VaultItem] {
    guard let vault else { return [] }
    let names = Set(known.map(VaultFileName.short))
    var items: [VaultItem] = []
    for name in try vault.list() where name.hasPrefix(prefix) && !names.contains(name) {
      if items.count == limit { break }
      if let item = try vault.item(named: name) { items.append(item) }
    }
    return items
  }
}

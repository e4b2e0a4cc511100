import PurchaseSQLite

/// The mirror in the vault, from which a new install starts. A failure of the vault never fails a purchase: the entry
/// is flagged as unprotected, and the store keeps the transaction unfinished meanwhile.
extension QueueFile {
  /// Copies the entry into the vault: chunks first, then the item that names them. A kill in between leaves unused
  /// chunks and no incomplete item.
  func mirror(_ entry: Entry, now: Timestamp) {
    guard let vault else { return }
    do throws(VaultError) {
      let isWhole = try copy(entry, into: vault)
      if entry.isUnprotected == isWhole {
        flag(entry.key, isUnprotected: !isWhole, why: "the vault has no space for its proof", now: now)
      }
    } catch {
      diagnostics?(Diagnostic(.vaultStore, VaultMirror.itemName(entry.key), error))
      if !entry.isUnprotected { flag(entry.key, isUnprotected: true, why: error.description, now: now) }
    }
  }

  /// False if the vault had no space for a proof.
  private func copy(_ entry: Entry, into vault: any ReceiptVault) throws(VaultError) -> Bool {
    var isWhole = true
    var proofs: [VaultMirror.MirroredProof] = []
    for reference in entry.proofs {
      var proof = VaultMirror.MirroredProof(kind: reference.kind, size: reference.size, name: nil, chunks: 0)
      if let bytes = try bytes(reference) {
        if let chunks = try storeIfItFits(bytes, in: vault) {
          (proof.name, proof.chunks) = (VaultMirror.proofName(bytes), chunks)
        } else {
          // The item without the proof still fits, and the store has the proof as well.
          isWhole = false
        }
      } else if let known = try mirrored(entry, in: vault, kind: proof.kind, size: proof.size) {
        // The file lost the bytes by damage, or never stored them for their length. Keep the vault's copy.
        proof = known
      }
      proofs.append(proof)
    }
    try vault.store(try VaultMirror(entry, proofs: proofs).item())
    return isWhole
  }

  private func mirrored(
    _ entry: Entry, in vault: any ReceiptVault, kind: String, size: Int
  ) throws(VaultError) -> VaultMirror.MirroredProof? {
    guard let item = try vault.item(named: VaultMirror.itemName(entry.key)) else { return nil }
    return VaultMirror(item)?.proofs.first { $0.kind == kind && $0.size == size && $0.name != nil }
  }

  private func storeIfItFits(_ bytes: [UInt8], in vault: any ReceiptVault) throws(VaultError) -> Int? {
    for isSecondTry in [false, true] {
      do throws(VaultError) {
        return try store(bytes, in: vault)
      } catch .full {
        let count = chunkCount(bytes.count, in: vault)
        removeChunks(of: VaultMirror.proofName(bytes), count: count, from: vault)
        if !isSecondTry { removeUnusedChunks(from: vault) }
      }
    }
    return nil
  }

  private func bytes(_ reference: ProofReference) throws(VaultError) -> [UInt8]? {
    guard let id = reference.id else { return nil }
    do throws(QueueError) {
      return try storedBytes(id)
    } catch {
      throw .failed(reason: "the proof cannot be read: \(error.description)")
    }
  }

  /// Existing chunks stay: several entries share them. Chunks are stored in order and removed from the end, so the
  /// last chunk is there only if all are.
  private func store(_ bytes: [UInt8], in vault: any ReceiptVault) throws(VaultError) -> Int {
    let name = VaultMirror.proofName(bytes)
    let count = chunkCount(bytes.count, in: vault)
    if try vault.item(named: VaultMirror.chunkName(name, count - 1)) != nil { return count }
    let size = max(1, vault.itemBytes)
    for index in 0..<count {
      let chunk = Array(bytes[min(index * size, bytes.count)..<min((index + 1) * size, bytes.count)])
      try vault.store(VaultItem(name: VaultMirror.chunkName(name, index), bytes: chunk))
      checkpoint?(.vaultChunk)
    }
    return count
  }

  private func chunkCount(_ bytes: Int, in vault: any ReceiptVault) -> Int {
    let size = max(1, vault.itemBytes)
    return max(1, (bytes + size - 1) / size)
  }

  /// Removes the mirror of an acknowledged entry: the item first, then chunks that no other entry needs.
  func removeMirror(of entry: Entry) {
    guard let vault else { return }
    do throws(VaultError) {
      try vault.remove(named: VaultMirror.itemName(entry.key))
    } catch {
      // The next opening removes the item: its tombstone shows that the entry is settled.
      diagnostics?(Diagnostic(.vaultRemove, VaultMirror.itemName(entry.key), error))
      return
    }
    for reference in entry.proofs {
      guard let id = reference.id, !isStored(id) else { continue }
      let name = VaultMirror.proofName(checksum: id, size: reference.size)
      removeChunks(of: name, count: chunkCount(reference.size, in: vault), from: vault)
    }
  }

  private func isStored(_ id: Int64) -> Bool {
    do throws(QueueError) {
      return try storedBytes(id) != nil
    } catch {
      // Kept for now: the next opening removes unused chunks.
      return true
    }
  }

  /// Removes chunks that no item names.
  func removeUnusedChunks(from vault: any ReceiptVault) {
    do throws(VaultError) {
      let names = try vault.list()
      let chunks = names.filter { $0.hasPrefix(VaultMirror.chunkPrefix) }
      guard !chunks.isEmpty else { return }
      var used: Set<String> = []
      for name in names where name.hasPrefix(VaultMirror.prefix) {
        guard let item = try vault.item(named: name), let mirror = VaultMirror(item) else { continue }
        used.formUnion(mirror.chunkNames)
      }
      for name in chunks where !used.contains(name) { try vault.remove(named: name) }
    } catch {
      // The chunks take space in the vault until the next opening.
      diagnostics?(Diagnostic(.vaultRemove, VaultMirror.chunkPrefix, error))
    }
  }

  private func removeChunks(of proof: String, count: Int, from vault: any ReceiptVault) {
    do throws(VaultError) {
      for index in (0..<count).reversed() { try vault.remove(named: VaultMirror.chunkName(proof, index)) }
    } catch {
      diagnostics?(Diagnostic(.vaultRemove, VaultMirror.chunkPrefix + proof, error))
    }
  }

  private func flag(_ key: EntryKey, isUnprotected: Bool, why: String, now: Timestamp) {
    do throws(QueueError) {
      try transaction { () throws(QueueError) in
        guard var entry = try self.entry(key) else { return }
        entry.isUnprotected = isUnprotected
        entry.history.append(isUnprotected ? "not mirrored: \(why)" : "mirrored", at: now)
        try self.write(entry)
      }
    } catch {
      // The entry itself is durable; the flag only describes its copy.
      diagnostics?(Diagnostic(.vaultFlag, VaultMirror.itemName(key), error))
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

  /// The items whose name begins with `prefix`.
  package func protected(prefix: String) throws(VaultError) -> [VaultItem] {
    guard let vault else { return [] }
    var items: [VaultItem] = []
    for name in try vault.list() where name.hasPrefix(prefix) {
      if let item = try vault.item(named: name) { items.append(item) }
    }
    return items
  }
}

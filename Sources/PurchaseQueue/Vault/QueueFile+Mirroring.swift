import PurchaseSQLite

/// The mirror in the vault, from which a new install starts. A failure of the vault never fails a purchase: the entry
/// is flagged as unprotected, and the store keeps the transaction unfinished until then.
///
/// Everything here happens under the inter-process lock. Otherwise another process could take chunks for unused that
/// this one has just stored, or mirror an entry that this one has just settled.
extension QueueFile {
  /// Copies an entry into the vault after its commit: chunks first, then the item that names them. A kill in between
  /// leaves unused chunks and no incomplete item.
  func mirror(_ key: EntryKey, now: Timestamp) {
    guard let vault else { return }
    var pass = MirrorPass()
    do throws(QueueError) {
      try exclusively { () throws(QueueError) in
        // Another process may have settled or changed it since the commit.
        guard let entry = try self.entry(key), entry.state != .damaged else { return }
        self.mirror(entry, in: vault, &pass)
        try self.flag(pass, now: now)
      }
      unflagged.remove(key)
    } catch {
      // The entry itself is durable. The next pause, or the next opening, finds out again what the vault holds.
      unflagged.insert(key)
      diagnostics?(Diagnostic(.vaultFlag, VaultMirror.itemName(key), error))
    }
  }

  /// Mirrors the entries that the vault may lack. Smaller ones first: when one does not fit, none of the others
  /// is tried.
  func mirrorUnprotected(now: Timestamp) throws(QueueError) {
    guard let vault else { return }
    try exclusively { () throws(QueueError) in
      let unprotected = try self.allEntries().filter { self.lacksMirror($0) && $0.state != .damaged }
      if !unprotected.isEmpty {
        var pass = MirrorPass()
        self.mirror(unprotected, in: vault, &pass)
        try self.flag(pass, now: now)
      }
      self.unflagged = []
    }
  }

  /// Whether the vault has no whole copy of the entry, as far as is known here.
  package func lacksMirror(_ entry: Entry) -> Bool { entry.isUnprotected || unflagged.contains(entry.key) }

  /// The entries of which the vault has no whole copy, as far as is known here.
  package func unprotectedKeys() throws(QueueError) -> Set<EntryKey> {
    let keys = try read { () throws(SQLiteError) in
      try connection.prepare("SELECT key FROM entries WHERE unprotected<>0").all([]) { $0.text(0) }
    }
    return unflagged.union(keys.map { EntryKey(rawValue: $0) })
  }

  /// Call it under the lock.
  func mirror(_ entries: [Entry], in vault: any QueueVault, _ pass: inout MirrorPass) {
    for entry in entries.sorted(by: { ($0.storedBytes, $0.place) < ($1.storedBytes, $1.place) }) {
      mirror(entry, in: vault, &pass)
    }
  }

  private func mirror(_ entry: Entry, in vault: any QueueVault, _ pass: inout MirrorPass) {
    if let why = pass.failure { return pass.note(entry, isUnprotected: true, why: why) }
    do throws(VaultError) {
      // Its item is there, without the payloads that do not fit.
      if pass.isRefused, entry.isUnprotected, try pass.hasItem(of: entry, in: vault) { return }
      let isWhole = try copy(entry, into: vault, &pass)
      pass.note(entry, isUnprotected: !isWhole, why: "the vault has no space for its payload")
    } catch {
      diagnostics?(Diagnostic(.vaultStore, VaultMirror.itemName(entry.key), error))
      pass.failure = error.description
      pass.note(entry, isUnprotected: true, why: error.description)
    }
  }

  /// False if the vault had no space for a payload.
  private func copy(
    _ entry: Entry, into vault: any QueueVault, _ pass: inout MirrorPass
  ) throws(VaultError) -> Bool {
    var payloads: [VaultMirror.MirroredPayload] = []
    var missing: [MissingPayload] = []
    for reference in entry.payloads {
      var payload = VaultMirror.MirroredPayload(
        kind: reference.kind, size: reference.size, name: nil, chunks: 0)
      if let bytes = try bytes(reference) {
        (payload.name, payload.chunks) = (VaultMirror.payloadName(bytes), chunkCount(bytes.count, in: vault))
        if try !holds(payload, vault) { missing.append(MissingPayload(index: payloads.count, bytes: bytes)) }
      } else if let known = try mirrored(entry, in: vault, kind: payload.kind, size: payload.size) {
        // The file lost the bytes by damage, or never stored them for their length. Keep the vault's copy.
        payload = known
      }
      payloads.append(payload)
    }
    if !pass.isRefused {
      let chunks = missing.flatMap { self.chunks($0.bytes, in: vault) }
      if try storeIfTheyFit(chunks + [try VaultMirror(entry, payloads: payloads).item()], in: vault) {
        return true
      }
    }
    var isWhole = true
    for payload in missing {
      if !pass.isRefused, try storeAlone(payload.bytes, in: vault, &pass) { continue }
      // The item without the payload still fits, and the store has the payload as well.
      (payloads[payload.index].name, payloads[payload.index].chunks) = (nil, 0)
      isWhole = false
    }
    try vault.store(try VaultMirror(entry, payloads: payloads).item())
    return isWhole
  }

  /// A payload whose chunks the vault does not hold.
  private struct MissingPayload {
    var index: Int
    var bytes: [UInt8]
  }

  /// Chunks are stored in order and removed from the end, so the last chunk is there only if all are. Entries share
  /// chunks.
  private func holds(
    _ payload: VaultMirror.MirroredPayload, _ vault: any QueueVault
  ) throws(VaultError) -> Bool {
    guard let name = payload.name else { return false }
    return try vault.item(named: VaultMirror.chunkName(name, payload.chunks - 1)) != nil
  }

  private func mirrored(
    _ entry: Entry, in vault: any QueueVault, kind: String, size: Int
  ) throws(VaultError) -> VaultMirror.MirroredPayload? {
    guard let item = try vault.item(named: VaultMirror.itemName(entry.key)) else { return nil }
    return VaultMirror(item)?.payloads.first { $0.kind == kind && $0.size == size && $0.name != nil }
  }

  /// Stores one payload after another, because not all of them fit; the first refusal removes unused chunks.
  private func storeAlone(
    _ bytes: [UInt8], in vault: any QueueVault, _ pass: inout MirrorPass
  ) throws(VaultError) -> Bool {
    let chunks = chunks(bytes, in: vault)
    while true {
      if try storeIfTheyFit(chunks, in: vault) { return true }
      removeChunks(of: VaultMirror.payloadName(bytes), count: chunks.count, from: vault)
      guard !pass.hasCleaned else {
        pass.isRefused = true
        return false
      }
      removeUnusedChunks(from: vault)
      pass.hasCleaned = true
    }
  }

  private func storeIfTheyFit(_ items: [VaultItem], in vault: any QueueVault) throws(VaultError) -> Bool {
    do throws(VaultError) {
      if let vault = vault as? any BatchingVault {
        try vault.store(items)
      } else {
        for item in items {
          try vault.store(item)
          if item.name.hasPrefix(VaultMirror.chunkPrefix) { checkpoint?(.vaultChunk) }
        }
      }
      return true
    } catch .full {
      return false
    }
  }

  private func chunks(_ bytes: [UInt8], in vault: any QueueVault) -> [VaultItem] {
    let name = VaultMirror.payloadName(bytes)
    let size = min(max(1, vault.itemBytes), max(1, bytes.count))
    return (0..<chunkCount(bytes.count, in: vault)).map { index in
      VaultItem(
        name: VaultMirror.chunkName(name, index), bytes: Array(bytes.dropFirst(index * size).prefix(size)))
    }
  }

  func chunkCount(_ bytes: Int, in vault: any QueueVault) -> Int {
    let size = max(1, vault.itemBytes)
    return max(1, bytes / size + (bytes % size > 0 ? 1 : 0))
  }

  private func bytes(_ reference: PayloadReference) throws(VaultError) -> [UInt8]? {
    guard let id = reference.id else { return nil }
    do throws(QueueError) {
      return try storedBytes(id)
    } catch {
      throw .failed(reason: "the payload cannot be read: \(error.description)")
    }
  }

  /// Writes the flags of the entries whose mirror changed, in one commit. Call it under the lock.
  func flag(_ pass: MirrorPass, now: Timestamp) throws(QueueError) {
    guard !pass.changes.isEmpty else { return }
    try transaction { () throws(QueueError) in
      for change in pass.changes {
        guard var entry = try self.entry(change.key) else { continue }
        entry.isUnprotected = change.isUnprotected
        entry.history.append(change.isUnprotected ? "not mirrored: \(change.why)" : "mirrored", at: now)
        try self.write(entry)
      }
    }
  }
}

import PurchaseSQLite

/// Each opening reconciles file and vault: a new install takes every item, items of settled purchases are removed, and
/// entries that could not be mirrored are mirrored now.
extension QueueFile {
  func reconcileVault(now: Timestamp) {
    guard let vault else { return }
    do throws(QueueError) {
      try exclusively { () throws(QueueError) in try self.reconcile(with: vault, now: now) }
      vaultProblem = nil
    } catch {
      // The vault's items stay there until an opening that works.
      vaultProblem = error.description
      diagnostics?(Diagnostic(.vaultRead, path, error))
    }
  }

  /// Asks the vault once for its names, and once for the item of each entry.
  private func reconcile(with vault: any QueueVault, now: Timestamp) throws(QueueError) {
    let names = Set(try asking { () throws(VaultError) in try vault.list() })
    let items = names.filter { $0.hasPrefix(VaultMirror.prefix) }
    let entries = try allEntries().filter { $0.state != .damaged }
    try restore(items.subtracting(entries.map { VaultMirror.itemName($0.key) }), from: vault, now: now)
    var pass = MirrorPass()
    var unmirrored: [Entry] = []
    let updates = try updateKeys()
    for entry in entries {
      guard let mirror = try mirror(of: entry, in: vault, names), !entry.isUnprotected else {
        // An enqueue does not mirror an update. A new install has no tombstone of it and would take it for a purchase.
        if !updates.contains(entry.key) { unmirrored.append(entry) }
        continue
      }
      try regain(entry, mirror, from: vault, now: now)
    }
    mirror(unmirrored, in: vault, &pass)
    try flag(pass, now: now)
    if !pass.hasCleaned, names.contains(where: { $0.hasPrefix(VaultMirror.chunkPrefix) }) {
      removeUnusedChunks(from: vault)
    }
  }

  /// The entries that have a tombstone too: updates of settled entries.
  private func updateKeys() throws(QueueError) -> Set<EntryKey> {
    let keys = try read { () throws(SQLiteError) in
      try connection.prepare("SELECT key FROM entries WHERE key IN (SELECT key FROM tombstones)").all([]) {
        $0.text(0)
      }
    }
    return Set(keys.map { EntryKey(rawValue: $0) })
  }

  private func asking<R>(_ body: () throws(VaultError) -> R) throws(QueueError) -> R {
    do throws(VaultError) {
      return try body()
    } catch {
      throw .storage(path: path, reason: error.description)
    }
  }

  /// The item of the entry, if the vault holds the present state of the entry. Nil after a kill between a commit and its
  /// mirror, and after a change by a process without the vault.
  private func mirror(
    of entry: Entry, in vault: any QueueVault, _ names: Set<String>
  ) throws(QueueError) -> VaultMirror? {
    let name = VaultMirror.itemName(entry.key)
    guard names.contains(name) else { return nil }
    guard let item = try asking({ () throws(VaultError) in try vault.item(named: name) }),
      let mirror = VaultMirror(item), mirror.orderNumber == entry.orderNumber,
      mirror.payloads.count == entry.payloads.count
    else { return nil }
    for (payload, reference) in zip(mirror.payloads, entry.payloads) {
      guard payload.kind == reference.kind, payload.size == reference.size else { return nil }
      // The vault may have the bytes of a payload that the file has only by reference.
      guard let id = reference.id else { continue }
      guard let name = payload.name, name == VaultMirror.payloadName(checksum: id, size: reference.size),
        names.contains(VaultMirror.chunkName(name, payload.chunks - 1))
      else { return nil }
    }
    return mirror
  }

  /// Handles items without an entry. An item of a settled entry is removed. The others are from an earlier install and
  /// are restored in one commit. If an old vault restores an entry that was settled long ago, that costs one upload,
  /// which the receiver answers as a duplicate.
  private func restore(
    _ names: Set<String>, from vault: any QueueVault, now: Timestamp
  ) throws(QueueError) {
    var unknown: [(mirror: VaultMirror, payloads: [Payload])] = []
    for mirror in try mirrors(names.sorted(), in: vault) {
      if try tombstone(EntryKey(rawValue: mirror.key)) != nil {
        unprotect(VaultMirror.prefix + mirror.key)
      } else {
        unknown.append((mirror, payloads(of: mirror, in: vault)))
      }
    }
    guard !unknown.isEmpty else { return }
    unknown.sort { ($0.mirror.enqueuedAt, $0.mirror.place) < ($1.mirror.enqueuedAt, $1.mirror.place) }
    let inOrder = unknown
    try transaction { () throws(QueueError) in
      for (mirror, payloads) in inOrder { try self.restore(mirror, payloads, now: now) }
    }
    checkpoint?(.vaultRestored)
  }

  private func restore(_ mirror: VaultMirror, _ payloads: [Payload], now: Timestamp) throws(QueueError) {
    let key = EntryKey(rawValue: mirror.key)
    var orderNumber = mirror.orderNumber
    // An order has one entry. If another entry of this install has the order, the receiver decides.
    if let number = orderNumber, try holder(ofOrder: number, excluding: key) != nil { orderNumber = nil }
    var new = NewEntry(
      key: key, lane: Lane(rawValue: mirror.lane), orderNumber: orderNumber, details: mirror.details,
      payloads: payloads)
    new.isRestored = true
    // Another process that opened the file at the same moment may have restored or even settled the entry.
    let known = try storedEntry(new.key)
    if let known, known.isWhole, known.entry.state != .damaged { return }
    guard try tombstone(new.key) == nil else { return }
    // This install may have smaller limits than the one that filled the vault. The rest stays there for later openings.
    guard try hasCapacity(for: new) else { return }
    // Texts and kinds of any form: the vault is not trusted, and other versions may have written it.
    guard fits(new) else { return }
    // The mirror replaces a damaged row.
    let queuedAt = Timestamp(milliseconds: max(0, min(mirror.enqueuedAt, now.milliseconds)))
    var entry: Entry
    if let known {
      entry = try replace(known.entry, new, queuedAt)
    } else {
      entry = try insert(new, now: queuedAt)
    }
    for payload in mirror.payloads where !entry.payloads.contains(where: { $0.kind == payload.kind }) {
      entry.payloads.append(PayloadReference(kind: payload.kind, id: nil, size: payload.size))
    }
    entry.payloads.sort { $0.kind < $1.kind }
    entry.history.append("restored from the vault", at: now)
    try write(entry)
  }

  /// Takes from the vault the bytes of payloads that the file has only by reference: they were damaged, or the vault could
  /// not be read when the entry was restored.
  private func regain(
    _ entry: Entry, _ mirror: VaultMirror, from vault: any QueueVault, now: Timestamp
  ) throws(QueueError) {
    let lost = entry.payloads.filter { $0.id == nil && $0.size <= limits.payloadBytes }.map(\.kind)
    guard !lost.isEmpty else { return }
    let found = payloads(of: mirror, in: vault).filter { lost.contains($0.kind) }
    guard !found.isEmpty else { return }
    let new = NewEntry(key: entry.key, lane: entry.lane, details: entry.details, payloads: found)
    do throws(QueueError) {
      try transaction { () throws(QueueError) in _ = try self.insertOrCollapse(new, now: now) }
    } catch .queueFull {
      // The payload stays by reference; its source has it too.
      return
    }
  }

  private func fits(_ new: NewEntry) -> Bool {
    do throws(QueueError) {
      try check(new)
      return true
    } catch {
      diagnostics?(Diagnostic(.vaultRead, VaultMirror.itemName(new.key), error))
      return false
    }
  }

  private func hasCapacity(for new: NewEntry) throws(QueueError) -> Bool {
    let held = try totals()
    let bytes = new.payloads.reduce(0) { $0 + $1.bytes.count }
    return held.dutyBytes < limits.tombstoneBytes && held.taken < limits.entries
      && held.takenBytes + bytes <= limits.totalBytes
  }

  private func mirrors(_ names: [String], in vault: any QueueVault) throws(QueueError) -> [VaultMirror] {
    var mirrors: [VaultMirror] = []
    for name in names {
      guard let item = try asking({ () throws(VaultError) in try vault.item(named: name) }) else { continue }
      if let mirror = VaultMirror(item) {
        mirrors.append(mirror)
      } else {
        // It stays in the vault: a later version may read it.
        let error = VaultError.failed(reason: "\(item.bytes.count) bytes that are no entry")
        diagnostics?(Diagnostic(.vaultRead, name, error))
      }
    }
    return mirrors
  }

  /// The payloads whose chunks are all present and correct. The others stay by reference.
  private func payloads(of mirror: VaultMirror, in vault: any QueueVault) -> [Payload] {
    mirror.payloads.compactMap { payload in
      guard let name = payload.name else { return nil }
      var bytes: [UInt8] = []
      do throws(VaultError) {
        for index in 0..<payload.chunks {
          guard let chunk = try vault.item(named: VaultMirror.chunkName(name, index)) else { return nil }
          bytes += chunk.bytes
        }
      } catch {
        diagnostics?(Diagnostic(.vaultRead, VaultMirror.chunkPrefix + name, error))
        return nil
      }
      return VaultMirror.payloadName(bytes) == name ? Payload(kind: payload.kind, bytes: bytes) : nil
    }
  }
}

import PurchaseSQLite

/// Health, case files, searches for support tools, and named texts.
extension QueueFile {
  // MARK: Health

  /// The number of queued entries, without those in quarantine; in constant time.
  package func count() throws(QueueError) -> Int { try totals().queued }

  /// Counts, sizes and ages. Reads every entry; the numbers belong to one moment only if no other process writes.
  package func health() throws(QueueError) -> QueueHealth {
    let entries = try allEntries()
    let totals = try totals()
    let duties = try tombstonesWithDuties()
    let free = try read { () throws(SQLiteError) in try connection.freePages }
    let (path, disk) = (self.path, setup.disk)
    let (fileBytes, logBytes, archived) = try QueueError.wrapFile(path) { () throws(FileError) in
      (
        try disk.size(of: path), try disk.size(of: path + "-wal"),
        try FileArchive(path: path, disk: disk).files()
      )
    }
    return QueueHealth(
      queued: totals.queued, quarantined: entries.count { $0.state == .quarantined },
      damaged: entries.count { $0.state == .damaged }, unprotected: entries.count { lacksMirror($0) },
      reserved: totals.reserved, bytes: totals.bytes, reservedBytes: totals.reservedBytes,
      oldestEnqueuedAt: entries.map(\.enqueuedAt).min(), nextReadyAt: try nextReadyAt(),
      mostAttempts: entries.map(\.attempts).max() ?? 0, tombstones: totals.tombstones,
      pendingFinishes: duties.count(where: \.isFinishPending), unconfirmed: totals.unconfirmed,
      fileBytes: fileBytes,
      logBytes: logBytes, freeBytes: free * 1024, archived: archived, vaultProblem: vaultProblem,
      schemaVersion: QueueSchema.version, sqliteVersion: Connection.libraryVersion)
  }

  // MARK: Case files

  /// The key of another entry or tombstone with this order number, if any. Reads every tombstone.
  package func holder(ofOrder number: String, excluding key: EntryKey) throws(QueueError) -> EntryKey? {
    try first(statements.entries.ofOrder, [.text(number), .text(key.rawValue)]) {
      EntryKey(rawValue: $0.text(0))
    }
  }

  /// The case file of one entry, queued or settled; nil for an unknown key.
  package func caseFile(for key: EntryKey) throws(QueueError) -> CaseFile? {
    if let entry = try entry(key) { return CaseFile(entry) }
    return try tombstone(key).map(CaseFile.init)
  }

  /// The case files of the entries with one order number, queued or settled.
  package func caseFiles(order number: String) throws(QueueError) -> [CaseFile] {
    let (live, settled) = try read { () throws(SQLiteError) in
      (
        try connection.prepare("SELECT key FROM entries WHERE order_number=? ORDER BY place")
          .all([.text(number)]) { EntryKey(rawValue: $0.text(0)) },
        try connection.prepare("SELECT key FROM tombstones WHERE order_number=? ORDER BY settled_at, key")
          .all([.text(number)]) { EntryKey(rawValue: $0.text(0)) }
      )
    }
    var files: [CaseFile] = []
    for key in live + settled {
      if let file = try caseFile(for: key) { files.append(file) }
    }
    return files
  }

  // MARK: Searching

  /// The newest tombstones, newest first, at most `limit`. A tombstone that does not match its checksum is left out.
  package func newestTombstones(_ limit: Int) throws(QueueError) -> [Tombstone] {
    let stored = try read { () throws(SQLiteError) in
      try connection.prepare(
        "SELECT \(StoredTombstone.columns) FROM tombstones ORDER BY settled_at DESC, key DESC LIMIT ?"
      ).all([.integer(Int64(max(0, limit)))]) { StoredTombstone($0) }
    }
    return stored.filter(\.isWhole).map(\.tombstone)
  }

  /// The keys, queued or settled, that equal this text or end in a slash and this text, in alphabetical order. Reads
  /// every key.
  package func keys(named text: String) throws(QueueError) -> [EntryKey] {
    try read { () throws(SQLiteError) in
      try connection.prepare(
        """
        SELECT key FROM (SELECT key FROM entries UNION SELECT key FROM tombstones) \
        WHERE key=?1 OR substr(key, -length(?1) - 1)='/' || ?1 ORDER BY key
        """
      ).all([.text(text)]) { EntryKey(rawValue: $0.text(0)) }
    }
  }

  // MARK: Facts

  /// A named text; nil if it is absent or does not match its checksum.
  package func fact(_ name: String) throws(QueueError) -> String? {
    let found = try first(statements.facts.get, [.text(name)]) {
      (value: $0.text(0), checksum: $0.integer(1))
    }
    guard let found, found.checksum == RowHash.of(name, found.value) else { return nil }
    return found.value
  }

  /// Removes a named text, in the open transaction if there is one.
  package func removeFact(_ name: String) throws(QueueError) {
    try transaction { () throws(QueueError) in
      try self.read { () throws(SQLiteError) in
        try self.connection.prepare("DELETE FROM facts WHERE name=?").run([.text(name)])
      }
    }
  }

  /// Writes a named text, in the open transaction if there is one.
  package func setFact(_ name: String, _ value: String) throws(QueueError) {
    try transaction { () throws(QueueError) in
      try self.run(self.statements.facts.set, [.text(name), .text(value), .integer(RowHash.of(name, value))])
    }
  }
}

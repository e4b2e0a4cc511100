import PurchaseSQLite

extension QueueFile {
  /// Entries that wait for their turn, those in quarantine not among them; in constant time.
  public func count() throws(QueueError) -> Int { try totals().queued }

  /// How the queue is. Reads every entry; counts are of one moment only if nobody else writes.
  public func health() throws(QueueError) -> QueueHealth {
    let entries = try allEntries()
    let totals = try totals()
    let duties = try tombstonesWithDuties()
    let free = try read { () throws(SQLiteError) in try connection.freePages }
    let path = self.path
    let (fileBytes, logBytes, setAside) = try QueueError.wrapFile(path) { () throws(FileError) in
      (
        try DurableFile.size(of: path), try DurableFile.size(of: path + "-wal"), try SetAside.files(of: path)
      )
    }
    return QueueHealth(
      queued: totals.queued, quarantined: entries.count { $0.state == .quarantined },
      damaged: entries.count { $0.state == .damaged }, unprotected: entries.count(where: \.isUnprotected),
      reserved: totals.reserved, bytes: totals.bytes, reservedBytes: totals.reservedBytes,
      oldestEnqueuedAt: entries.map(\.enqueuedAt).min(), nextReadyAt: try nextReadyAt(),
      mostAttempts: entries.map(\.attempts).max() ?? 0, tombstones: totals.tombstones,
      finishesOwed: duties.count(where: \.isFinishOwed), unseen: totals.unseen, fileBytes: fileBytes,
      logBytes: logBytes, freeBytes: free * 1024, setAside: setAside, vaultProblem: vaultProblem,
      schemaVersion: QueueSchema.version, sqliteVersion: Connection.libraryVersion)
  }
}

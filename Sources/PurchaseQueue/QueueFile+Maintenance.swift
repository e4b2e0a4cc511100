import PurchaseSQLite

extension QueueFile {
  /// Work that no purchase has to wait for: empties a long log into the file, gives free pages back, drops old
  /// tombstones, and mirrors what could not be mirrored before. To be called when nothing else is to be done; cheap
  /// if there is nothing to do.
  ///
  /// Other processes may be using the file: what they are reading just now stays for the next time.
  public func maintain(now: Timestamp) throws(QueueError) {
    try dropOldTombstones(now: now)
    try exclusively { () throws(QueueError) in
      let log = try QueueError.wrapFile(self.path) { () throws(FileError) in
        try DurableFile.size(of: self.path + "-wal")
      }
      try self.read { () throws(SQLiteError) in
        let free = try self.connection.freePages
        guard log > Self.longLog || free > Self.manyFreePages else { return }
        if free > Self.manyFreePages { try self.connection.shrink() }
        _ = try self.connection.checkpoint()
      }
    }
    guard vault != nil else { return }
    for entry in try allEntries() where entry.isUnprotected { mirror(entry, now: now) }
  }

  /// Bytes of log from which it is worth three syncs to empty it.
  private static var longLog: Int { 512 << 10 }
  /// A quarter of a megabyte in pages of 1 KiB.
  private static var manyFreePages: Int { 256 }

  private func dropOldTombstones(now: Timestamp) throws(QueueError) {
    let oldest = now.adding(milliseconds: -limits.tombstoneMilliseconds).milliseconds
    let settled = try read { () throws(SQLiteError) in
      try connection.prepare(
        "SELECT settled_at FROM tombstones WHERE NOT (finish_owed OR unseen) ORDER BY sequence LIMIT 1"
      ).first { $0.integer(0) }
    }
    guard let settled, settled <= oldest else { return }
    try transaction { () throws(QueueError) in
      var totals = try self.totals()
      try self.dropTombstones(settledBefore: oldest, atMost: 100, &totals)
      let row = totals
      try self.read { () throws(SQLiteError) in try self.statements.room.setTotals.run(row.values) }
    }
  }
}

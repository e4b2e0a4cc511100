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
      try self.read { () throws(SQLiteError) in
        let pages = try (all: self.connection.pages, free: self.connection.freePages)
        // Rewriting costs as much as what is kept: worth it when that is the lesser part.
        if pages.free > Self.manyFreePages, pages.free > pages.all / 2 { try self.connection.vacuum() }
      }
      let log = try QueueError.wrapFile(self.path) { () throws(FileError) in
        try DurableFile.size(of: self.path + "-wal")
      }
      guard log > Self.longLog else { return }
      try self.read { () throws(SQLiteError) in _ = try self.connection.checkpoint() }
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
      try connection.prepare("SELECT min(settled_at) FROM tombstones WHERE NOT (finish_owed OR unseen)")
        .first { $0.optionalInteger(0) } ?? nil
    }
    guard let settled, settled <= oldest else { return }
    try transaction { () throws(QueueError) in
      var totals = try self.totals()
      try self.dropTombstones(settledBefore: oldest, atMost: .max, &totals)
      let row = totals
      try self.read { () throws(SQLiteError) in try self.statements.room.setTotals.run(row.values) }
    }
  }
}

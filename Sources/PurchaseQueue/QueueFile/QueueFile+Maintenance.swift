import PurchaseSQLite

extension QueueFile {
  /// Does the work that no purchase has to wait for: copies a long log into the file, returns free pages to the file
  /// system, removes old tombstones, and mirrors entries that could not be mirrored before. Call it when the app is
  /// idle; it is cheap if there is nothing to do.
  ///
  /// Other processes may use the file at the same time: pages that they are reading stay in the log until the next
  /// call.
  package func maintain(now: Timestamp) throws(QueueError) {
    try dropOldTombstones(now: now)
    try maintainLog(now: now)
  }

  /// The part of `maintain` that each pause needs: the rest looks at each tombstone.
  ///
  /// - Parameter isShort: More is to come soon, and another pause after it: only what cannot wait for that is done.
  package func maintainLog(now: Timestamp, isShort: Bool = false) throws(QueueError) {
    try exclusively { () throws(QueueError) in
      if !isShort { try self.returnFreePages() }
      let log = try QueueError.wrapFile(self.path) { () throws(FileError) in
        try self.setup.disk.size(of: self.path + "-wal")
      }
      guard log > (isShort ? Self.busyLog : Self.longLog) else { return }
      try self.checkStructure()
      try self.read { () throws(SQLiteError) in _ = try self.connection.checkpoint() }
    }
    try mirrorUnprotected(now: now)
  }

  private func returnFreePages() throws(QueueError) {
    let pages = try read { () throws(SQLiteError) in
      (all: try connection.pages, free: try connection.freePages)
    }
    // Rewriting costs as much as the used pages: worth it if they are the smaller part.
    guard pages.free > Self.manyFreePages, pages.free > pages.all / 2 else { return }
    try checkStructure()
    try read { () throws(SQLiteError) in try connection.vacuum() }
  }

  /// As `maintain`, and never waits: false if another process writes now.
  package func maintainUnlessBusy(now: Timestamp) throws(QueueError) -> Bool {
    do throws(QueueError) {
      try withoutWaiting { () throws(QueueError) in try self.maintain(now: now) }
      return true
    } catch .busy {
      leaveLine()
      return false
    }
  }

  /// Closing will not copy a long log into the file, which can take long. The next pause does it.
  func leaveLongLogOnClose() {
    do throws(FileError) {
      if try setup.disk.size(of: path + "-wal") > Self.longLog { connection.leaveUntouchedOnClose() }
    } catch {
      // Then SQLite copies the log: slower, and as safe.
      diagnostics?(Diagnostic(.maintenance, path, error))
    }
  }

  /// From this size on, emptying the log is worth its three syncs.
  private static var longLog: Int { 512 << 10 }
  /// The same while more is to come. SQLite itself empties the log at 4 MiB, in the middle of a call.
  private static var busyLog: Int { 3 << 20 }
  /// A quarter of a megabyte in pages of 1 KiB.
  private static var manyFreePages: Int { 256 }

  private func dropOldTombstones(now: Timestamp) throws(QueueError) {
    let oldest = now.adding(milliseconds: -limits.tombstoneAge.wholeMilliseconds).milliseconds
    let settled = try read { () throws(SQLiteError) in
      try connection.prepare(
        "SELECT min(settled_at) FROM tombstones WHERE NOT (finish_pending OR unconfirmed)"
      )
      .first { $0.optionalInteger(0) } ?? nil
    }
    guard let settled, settled <= oldest else { return }
    try transaction { () throws(QueueError) in
      var totals = try self.totals()
      try self.dropTombstones(settledBefore: oldest, &totals) { _ in true }
      let row = totals
      try self.read { () throws(SQLiteError) in try self.statements.capacity.setTotals.run(row) }
    }
  }
}

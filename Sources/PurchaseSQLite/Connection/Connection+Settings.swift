import CPurchaseSQLite

extension Connection {
  /// Settings that are stored in the file. A new file needs this order: page size and auto-vacuum before the first table
  /// and before WAL, which fixes the page size.
  package func applyNewFileSettings() throws(SQLiteError) {
    // A payload of 8 KB writes less than half as much in 1 KiB pages as in 4 KiB pages (bench queue). Pages of 2 KiB
    // write 1.4 times as much as those of 1 KiB, and are no faster on a disk.
    try execute("PRAGMA page_size=1024")
    // Auto-vacuum writes one more page (its pointer map) with every commit that takes or frees pages. `vacuum` writes
    // only the used pages, while no call waits.
    try execute("PRAGMA auto_vacuum=NONE")
    try enterWAL()
  }

  /// Settings of this connection. Call it after each open.
  package func applyConnectionSettings() throws(SQLiteError) {
    // A commit that returned survives power loss. WAL with NORMAL does not promise that.
    try execute("PRAGMA synchronous=FULL")
    #if canImport(Darwin)
      // On Apple systems, fsync leaves data in the cache of the drive; F_FULLFSYNC does not.
      try execute("PRAGMA fullfsync=ON")
      try execute("PRAGMA checkpoint_fullfsync=ON")
    #endif
    // FAST overwrites deleted content where its page is written anyway. ON would also write free pages, only to blank
    // them, which doubles the bytes that an acknowledgement writes. The file is for the owner alone (0600), a payload is
    // worthless without the store account, and `vacuum` removes free pages. Set explicitly: the default differs
    // between distributions.
    try execute("PRAGMA secure_delete=FAST")
    // The schema of a damaged or hostile file must not call functions.
    try execute("PRAGMA trusted_schema=OFF")
    // A checkpoint costs three syncs: at 4 MB of log in pages of 1 KiB, that is 1 % of the syncs of the commits. It is
    // the last resort; `QueueFile.maintain` keeps the log shorter while no call waits. The value is below 4,062, the
    // frames in the first page of the log's index: on a full disk, the need for a second page would fail a commit that
    // is in the log already.
    try execute("PRAGMA wal_autocheckpoint=3900")
    // A log that starts again is overwritten in place. If it had to grow again, the file system would make a commit of
    // its own for each of ours. `checkpoint` truncates it.
    try execute("PRAGMA journal_size_limit=-1")
    // Bounds memory: 1 MiB of pages and no mapped file.
    try execute("PRAGMA cache_size=-1024")
    try execute("PRAGMA mmap_size=0")
  }

  /// Write-ahead log: one sync per commit, and readers do not block the writer.
  package func enterWAL() throws(SQLiteError) {
    let mode = try prepare("PRAGMA journal_mode=WAL").first { $0.text(0) }
    guard mode == "wal" || path == ":memory:" else {
      throw SQLiteError(
        code: .cannotOpen,
        message: "the file system does not support a write-ahead log (mode: \(mode ?? "none"))",
        sql: "PRAGMA journal_mode=WAL")
    }
  }

  /// Copies the log into the database file and empties it. False if another connection reads it: then the rest stays in
  /// the log until the next checkpoint. A failure loses nothing.
  package func checkpoint() throws(SQLiteError) -> Bool {
    // Without waiting for readers: writers would have to wait as well.
    unsafe _ = sqlite3_busy_timeout(handle, 0)
    defer { unsafe _ = sqlite3_busy_timeout(handle, busyTimeoutMilliseconds) }
    let result = unsafe sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    if ResultCode(rawValue: result).primary == .busy { return false }
    try unsafe SQLiteError.check(result, handle, sql: "wal_checkpoint(TRUNCATE)")
    return true
  }

  /// Rewrites the file without its free pages, in a transaction of its own.
  package func vacuum() throws(SQLiteError) {
    try execute("VACUUM")
  }

  /// Pages of the file.
  package var pages: Int {
    get throws(SQLiteError) { Int(try prepare("PRAGMA page_count").first { $0.integer(0) } ?? 0) }
  }

  /// Unused pages of the file.
  package var freePages: Int {
    get throws(SQLiteError) { Int(try prepare("PRAGMA freelist_count").first { $0.integer(0) } ?? 0) }
  }

  /// Closing this connection will not write: for files that turn out to be foreign.
  package func leaveUntouchedOnClose() {
    unsafe _ = purchase_sqlite3_db_config_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
  }

  package var userVersion: Int64 {
    get throws(SQLiteError) { try prepare("PRAGMA user_version").first { $0.integer(0) } ?? 0 }
  }

  package var applicationID: Int64 {
    get throws(SQLiteError) { try prepare("PRAGMA application_id").first { $0.integer(0) } ?? 0 }
  }
}

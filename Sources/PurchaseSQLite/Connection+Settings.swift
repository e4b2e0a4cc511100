import CPurchaseSQLite

extension Connection {
  /// Settings that are stored in the file, in the order that SQLite needs on a new one: page size and auto-vacuum
  /// before the first table, and before WAL fixes the page size.
  package func applyNewFileSettings() throws(SQLiteError) {
    // An 8 KB proof in 1 KiB pages writes less than half of what it writes in 4 KiB pages (bench queue).
    try execute("PRAGMA page_size=1024")
    // Auto-vacuum writes one more page with every commit that takes or frees pages (its pointer map). `vacuum` costs
    // only what is kept, while nobody waits.
    try execute("PRAGMA auto_vacuum=NONE")
    try enterWAL()
  }

  /// Settings of this connection, to be made after each open.
  package func applyConnectionSettings() throws(SQLiteError) {
    // A commit that returned survives power loss. WAL with NORMAL does not promise that.
    try execute("PRAGMA synchronous=FULL")
    #if canImport(Darwin)
      // fsync on Apple systems leaves data in the drive's cache; F_FULLFSYNC does not.
      try execute("PRAGMA fullfsync=ON")
      try execute("PRAGMA checkpoint_fullfsync=ON")
    #endif
    // Deleted content is overwritten where its page is written anyway, but free pages are not written only to blank
    // them: that would double what an acknowledgement writes. The file is the owner's alone (0600), a proof in it is
    // worth nothing without the store account, and `vacuum` drops free pages. Set in words: distributions
    // differ in the default.
    try execute("PRAGMA secure_delete=FAST")
    try execute("PRAGMA foreign_keys=ON")
    // A schema of a damaged or hostile file must not run functions of its own choice.
    try execute("PRAGMA trusted_schema=OFF")
    // A checkpoint costs three syncs: at 4 MB of log in pages of 1 KiB they are 1 % of the commits' own. It is the
    // last resort; `QueueFile.maintain` keeps the log shorter while nobody waits. Below the 4,062 frames of the first
    // page of the log's index: to need another page of it on a full disk fails a commit that is in the log already.
    try execute("PRAGMA wal_autocheckpoint=3900")
    // A log that starts anew is written over in place: growing it anew would cost the file system a commit of its own
    // with each of ours. `checkpoint` cuts it back.
    try execute("PRAGMA journal_size_limit=-1")
    // Bounds memory: 1 MiB of pages, and no file mapped.
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

  /// Copies the log into the database file and empties it. False if somebody is reading it: the rest stays for the
  /// next time. Not durable state: nothing is lost if it fails.
  package func checkpoint() throws(SQLiteError) -> Bool {
    // Without waiting for readers: whoever writes meanwhile would wait too.
    unsafe _ = sqlite3_busy_timeout(handle, 0)
    defer { unsafe _ = sqlite3_busy_timeout(handle, busyTimeoutMilliseconds) }
    let result = unsafe sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    if ResultCode(rawValue: result).primary == .busy { return false }
    try unsafe SQLiteError.check(result, handle, sql: "wal_checkpoint(TRUNCATE)")
    return true
  }

  /// Writes the file anew without its free pages, in a transaction of its own.
  package func vacuum() throws(SQLiteError) {
    try execute("VACUUM")
  }

  /// Pages of the file.
  package var pages: Int {
    get throws(SQLiteError) { Int(try prepare("PRAGMA page_count").first { $0.integer(0) } ?? 0) }
  }

  /// Pages of the file that hold nothing.
  package var freePages: Int {
    get throws(SQLiteError) { Int(try prepare("PRAGMA freelist_count").first { $0.integer(0) } ?? 0) }
  }

  /// Keeps the close of this connection from writing: for files that turn out not to be ours.
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

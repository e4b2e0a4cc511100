import CPurchaseSQLite

/// Which syncs of a log are made. Pure: ``CoalescedWALFile`` writes and syncs.
///
/// The sync that ends a commit may be deferred: the commit survives a kill at once, and a power cut from the next sync of
/// the log on, which makes all that came before it durable. No other sync is deferred:
///
/// - The header of a log that starts again. Until it is durable, frames could overwrite a part of the previous log, and
///   recovery would take the rest of that log, which is old, for all of it.
/// - The sync before a checkpoint, also one within a COMMIT. Pages that are in the database only count together with
///   their frames.
///
/// - The first one of a connection: it does not know what was durable before.
///
/// So a power cut loses commits from the end, as with SQLite's own `synchronous=NORMAL`
/// (<https://sqlite.org/pragma.html#pragma_synchronous>); here each commit says which it is.
struct LogSyncs {
  /// What a connection asks for, as a file control. SQLite's own are below 100
  /// (<https://sqlite.org/c3ref/file_control.html>).
  enum Request: Int32 {
    /// The commit that follows may defer its sync.
    case deferNext = 20_801
    /// The commit is over.
    case deferNone = 20_802
    /// Makes the deferred sync.
    case syncDeferred = 20_803
    /// Whether a sync is deferred: 1 in the argument, an `Int32`.
    case hasDeferred = 20_804
    /// What this connection has made durable, in the argument, a `LogNote`.
    case durable = 20_805
  }

  var mayDefer = false
  private(set) var hasDeferred = false
  /// What this connection knows to be durable.
  private(set) var durable = LogNote.none
  /// The end of what it has written, and the salts of the log that it has begun.
  private var written = LogNote.none
  private var isHeaderWritten = false

  /// SQLite writes the header of a log, or frames. The zeros ahead of them are neither.
  mutating func wrote(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
    if offset == 0, bytes.count >= 24 {
      isHeaderWritten = true
      written.salts = unsafe LogNote.salts(inHeader: bytes)
    }
    written.end = offset + Int64(bytes.count)
  }

  /// - Parameter salts: Reads them from the log. Another connection may have begun it.
  mutating func synced(reading salts: () -> UInt64) {
    (hasDeferred, isHeaderWritten) = (false, false)
    guard written.end > 0 else { return }
    written.salts = salts()
    durable = written
  }

  /// Whether this sync of the log is deferred: the first one of a commit that may be, after its frames.
  mutating func defers() -> Bool {
    guard mayDefer, !isHeaderWritten, durable.salts != 0, durable.salts == written.salts else { return false }
    (mayDefer, hasDeferred) = (false, true)
    return true
  }

  #if canImport(Darwin)
    static let flags = SQLITE_SYNC_FULL
  #else
    static let flags = SQLITE_SYNC_NORMAL
  #endif
}

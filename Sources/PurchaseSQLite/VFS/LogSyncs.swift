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
  /// The end of its last commit, and the salts of the log that it has begun. What is written behind this end, and is
  /// then rolled back, is overwritten by the next commit: a power cut that tears that one is no damage.
  private var committed = LogNote.none
  /// The end of the commit that is written and not yet synced.
  private var ending: Int64?
  private var isHeaderWritten = false
  /// Whether the page that follows is the last one of a commit.
  private var isLastPage = false

  private static let frameHeaderSize = 24

  /// SQLite writes the header of a log, or of a frame, or a page. The zeros ahead of them are none of these.
  mutating func wrote(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
    if offset == 0, bytes.count >= 24 {
      isHeaderWritten = true
      committed.salts = unsafe LogNote.salts(inHeader: bytes)
      (committed.end, ending) = (Int64(bytes.count), nil)
    } else if bytes.count == Self.frameHeaderSize {
      // "For commit records, the size of the database file in pages after the commit. For all other records, zero."
      isLastPage = unsafe bytes[4..<8].contains { $0 != 0 }
    } else if isLastPage {
      ending = offset + Int64(bytes.count)
    }
  }

  /// - Parameter salts: Reads them from the log. Another connection may have begun it.
  mutating func synced(reading salts: () -> UInt64) {
    (hasDeferred, isHeaderWritten) = (false, false)
    endCommit()
    guard committed.end > 0 else { return }
    committed.salts = salts()
    durable = committed
  }

  /// Whether this sync of the log is deferred: the first one of a commit that may be, after its frames.
  mutating func defers() -> Bool {
    guard mayDefer, !isHeaderWritten, durable.salts != 0, durable.salts == committed.salts else {
      return false
    }
    (mayDefer, hasDeferred) = (false, true)
    return true
  }

  /// The commit whose sync is deferred is written.
  mutating func deferred() { endCommit() }

  /// Pages or a sync could not be written, or the write lock is given back: no commit is under way.
  mutating func dropCommit() { (ending, isLastPage) = (nil, false) }

  private mutating func endCommit() {
    if let ending { committed.end = ending }
    dropCommit()
  }

  #if canImport(Darwin)
    static let flags = SQLITE_SYNC_FULL
  #else
    static let flags = SQLITE_SYNC_NORMAL
  #endif
}

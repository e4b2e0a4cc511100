package import PurchaseSQLite

/// The findings of a thorough check of a queue's file. An opening looks only at header and schema.
public struct CheckReport: Hashable, Sendable {
  /// Places of entries whose rows do not match their checksum.
  public internal(set) var entries: [Int64] = []
  /// Numbers of payloads whose bytes do not match their checksum.
  public internal(set) var payloads: [Int64] = []
  /// Keys of tombstones that do not match their checksum.
  public internal(set) var tombstones: [EntryKey] = []
  /// Damaged pages, as SQLite describes them.
  public internal(set) var pages: [String] = []

  /// True if nothing is damaged.
  public var isClean: Bool { self == CheckReport() }

  init() {}
}

/// Reads every page and every value of a queue's file and verifies each checksum.
///
/// The time grows with the size of the file, so the check uses a read-only connection of its own.
package enum QueueCheck {
  /// Checks the file of an open queue on a thread that `runBlocking` chooses.
  package static func inBackground(
    path: String, on disk: Disk = .system, until stop: Interrupter = Interrupter(),
    by runBlocking: @Sendable (@escaping @Sendable () -> Void) -> Void
  ) async -> Result<CheckReport, QueueError> {
    await BlockingExecutor.offThePool(by: runBlocking) {
      do throws(QueueError) {
        return .success(try run(path: path, on: disk, until: stop))
      } catch {
        return .failure(error)
      }
    }
  }

  /// Checks the file of an open queue. From any thread.
  package static func run(path: String) throws(QueueError) -> CheckReport { try run(path: path, on: .system) }

  /// The same for a queue on another disk. Throws `closed` if `stop` ended the check early.
  package static func run(
    path: String, on disk: Disk, until stop: Interrupter = Interrupter()
  ) throws(QueueError) -> CheckReport {
    let connection = try QueueError.wrap(path) { () throws(SQLiteError) in
      try Connection(path: path, on: disk, access: .readOnly)
    }
    let report = Result { () throws(QueueError) in
      try stop.watch(connection) { () throws(QueueError) in
        let report = try read(connection, path)
        guard !report.pages.isEmpty, !stop.isStopped else { return report }
        // SQLite reports a page that the disk did not give as a damaged one. This reading throws then. What is damaged is
        // so in the second check too.
        _ = try PageImage.inPieces(of: path, on: disk, StructureCheck.problem)
        return try read(connection, path)
      }
    }
    // What an interrupted check found is not true.
    guard !stop.isStopped else { throw .closed(path: path) }
    return try report.get()
  }

  private static func read(
    _ connection: borrowing Connection, _ path: String
  ) throws(QueueError) -> CheckReport {
    var report = CheckReport()
    do throws(SQLiteError) {
      // Not `quick_check`: an index that disagrees with its table hides entries.
      report.pages = try connection.prepare("PRAGMA integrity_check(20)").all { $0.text(0) }.filter {
        $0 != "ok"
      }
      report.entries = try connection.prepare("SELECT \(StoredEntry.columns) FROM entries").all {
        let stored = StoredEntry($0)
        return stored.isWhole || stored.entry.state == .damaged ? nil : stored.entry.place
      }.compactMap { $0 }
      report.payloads = try connection.prepare("SELECT id, checksum, bytes FROM payloads").all {
        Checksum.of($0.bytes(2)) == $0.integer(1) ? nil : $0.integer(0)
      }.compactMap { $0 }
      report.tombstones = try connection.prepare("SELECT \(StoredTombstone.columns) FROM tombstones").all {
        let stored = StoredTombstone($0)
        return stored.isWhole ? nil : stored.tombstone.key
      }.compactMap { $0 }
    } catch  where error.code.primary == .corrupt {
      report.pages.append(error.message)
    } catch {
      throw QueueError(error, path: path)
    }
    return report
  }
}

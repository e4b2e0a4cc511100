import PurchaseSQLite

/// What a thorough look at a queue's file found: what header and schema do not show at the opening.
public struct CheckReport: Hashable, Sendable {
  /// Places of entries whose rows are not what was written.
  public internal(set) var entries: [Int64] = []
  /// Numbers of proofs whose bytes are not what was written.
  public internal(set) var proofs: [Int64] = []
  /// Settled entries whose tombstones are not what was written.
  public internal(set) var tombstones: [EntryKey] = []
  /// Pages that cannot be right, in SQLite's words.
  public internal(set) var pages: [String] = []

  /// True if all is as it was written.
  public var isClean: Bool { self == CheckReport() }

  init() {}
}

/// Reads every page and every value of a queue's file and verifies each checksum.
///
/// Takes time with the size of the file, so it runs beside the queue, on a connection of its own that only reads.
public enum QueueCheck {
  /// Checks the file of an open queue on a thread outside the cooperative pool.
  public static func inBackground(path: String) async -> Result<CheckReport, QueueError> {
    await inBackground(path: path) { BlockingExecutor.beside($0) }
  }

  /// The same on a thread that somebody else brings.
  package static func inBackground(
    path: String, by beside: @Sendable (@escaping @Sendable () -> Void) -> Void
  ) async -> Result<CheckReport, QueueError> {
    await BlockingExecutor.offThePool(by: beside) {
      do throws(QueueError) {
        return .success(try run(path: path))
      } catch {
        return .failure(error)
      }
    }
  }

  /// Checks the file of an open queue. From any thread.
  public static func run(path: String) throws(QueueError) -> CheckReport {
    let connection = try QueueError.wrap(path) { () throws(SQLiteError) in
      try Connection(path: path, access: .readOnly)
    }
    var report = CheckReport()
    do throws(SQLiteError) {
      // Not `quick_check`: an index that does not agree with its table hides entries.
      report.pages = try connection.prepare("PRAGMA integrity_check(20)").all { $0.text(0) }.filter {
        $0 != "ok"
      }
      report.entries = try connection.prepare("SELECT \(StoredEntry.columns) FROM entries").all {
        let stored = StoredEntry($0)
        return stored.isWhole || stored.entry.state == .damaged ? nil : stored.entry.place
      }.compactMap { $0 }
      report.proofs = try connection.prepare("SELECT id, checksum, bytes FROM proofs").all {
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

extension QueueFile {
  /// Sets apart what a check found: each damaged value costs the entries that use it, and no others. Damaged pages
  /// are remembered: open the file again, and what can be read of it is salvaged.
  public func setApart(_ report: CheckReport) throws(QueueError) {
    if !report.pages.isEmpty { markDamage() }
    if !report.entries.isEmpty { try setApart(report.entries) }
    for id in report.proofs where try storedBytes(id) == nil { try loseProof(id) }
    for key in report.tombstones { _ = try tombstone(key) }
  }
}

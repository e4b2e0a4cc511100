import PurchaseSQLite

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A copy of a queue's file, taken beside whoever uses it: for support tools, and for looking at a queue that must
/// not change.
///
/// Nothing of the original changes: no byte, no name, no moment. Needs the right to read the file, what lies beside
/// it under its name (`-wal`, `-lock`) and the list of its directory; and room for a copy in the temporary directory,
/// where the copy has a directory of its own (0700) until the snapshot goes out of scope. A kill leaves it behind.
///
/// While the copy is made, writers of the queue wait (a few milliseconds, and five seconds for each other at most),
/// and one who closes it leaves the log for the next opening to empty. Blocks; belongs to one thread at a time.
public final class QueueSnapshot {
  /// Where the original is.
  public let path: String
  /// The original's size in bytes, when it was copied.
  public let fileBytes: Int
  /// The size of its log.
  public let logBytes: Int
  /// The version of the original's schema; 0 if damage hides it. The copy has this library's.
  public let schemaVersion: Int
  /// Damaged files that were set aside beside the original, oldest first.
  public let setAside: [String]
  /// What a thorough check found before anything was read: damaged values are set apart in the copy alone.
  public let check: CheckReport
  /// What the next opening of the original has to salvage, as it was done with the copy; nil if it need not.
  public let salvage: SalvageReport?

  // Before the directory: closed before its files go.
  private let queue: QueueFile
  private let directory: PrivateDirectory

  /// Copies the queue at the path and opens the copy, without a vault.
  ///
  /// Throws `foreignFile` for what is no queue, also for an empty file; `newerSchema` for a newer version's;
  /// `cannotOpen` if there is no such file, or if it may not be read; `busy` if somebody wrote for five seconds;
  /// `damaged` if not even a salvage can open it; and `diskFull`, `cannotOpen` or `storage` with the path of the copy
  /// if the temporary directory is the trouble.
  ///
  /// - Parameters:
  ///   - path: the queue's file.
  ///   - temporaryDirectory: where the copy is made; the system's place unless given.
  ///   - now: names what a salvage of the copy sets aside; nothing else depends on it.
  public init(
    of path: String, temporaryDirectory: String? = nil, now: Timestamp = .wallClock()
  ) throws(QueueError) {
    let parent = temporaryDirectory ?? FileManager.default.temporaryDirectory.path
    let directory = try QueueError.wrapFile(parent) { () throws(FileError) in
      try PrivateDirectory(in: parent, prefix: "queue-snapshot-")
    }
    let copying = QueueCopying(path: path, copy: directory.path + "/queue.sqlite")
    let copied = try copying.run()
    do throws(QueueError) {
      let version = try copying.schemaVersion(of: copied.probe)
      let (queue, check) = try Self.open(copying.copy, now: now)
      guard !copied.isBlank(version: version) || queue.salvage != nil else {
        throw .foreignFile(path: path, found: "an empty file")
      }
      self.queue = queue
      self.check = check
      schemaVersion = version
    } catch {
      throw error.moved(from: copying.copy, to: path)
    }
    self.path = path
    fileBytes = copied.fileBytes
    logBytes = copied.logBytes
    setAside = try QueueError.wrapFile(path) { () throws(FileError) in try SetAside.files(of: path) }
    salvage = queue.salvage.map {
      SalvageReport(what: $0.what, entries: $0.entries, tombstones: $0.tombstones, setAside: path)
    }
    self.directory = directory
  }

  /// Lends the copy, for any call: what changes, changes in the copy, and is gone with it.
  public func read<R>(_ body: (QueueFile) throws(QueueError) -> R) throws(QueueError) -> R {
    do throws(QueueError) {
      return try body(queue)
    } catch {
      throw error.moved(from: queue.path, to: path)
    }
  }

  /// How the original is; as `QueueFile.health()`, but for the vault, of which nothing is known here.
  public func health() throws(QueueError) -> QueueHealth {
    var health = try read { (queue) throws(QueueError) in try queue.health() }
    health.fileBytes = fileBytes
    health.logBytes = logBytes
    health.schemaVersion = schemaVersion
    health.setAside = setAside
    return health
  }

  /// True if the original is as it was written.
  public var isSound: Bool { salvage == nil && check.isClean }

  /// Damaged pages are salvaged, as the next opening of the original would do it after such a check.
  private static func open(
    _ copy: String, now: Timestamp
  ) throws(QueueError) -> (QueueFile, CheckReport) {
    var queue: QueueFile? = try QueueFile(path: copy, now: now)
    let check = try QueueCheck.run(path: copy)
    if !check.pages.isEmpty {
      DamageMark.set(on: copy)
      queue = nil
    }
    if let queue { return (queue, check) }
    return (try QueueFile(path: copy, now: now), check)
  }
}

extension QueueError {
  /// The same, told of another path.
  func moved(from copy: String, to path: String) -> QueueError {
    func new(_ found: String) -> String { found == copy ? path : found }
    return switch self {
    case .foreignFile(let old, let found): .foreignFile(path: new(old), found: found)
    case .newerSchema(let old, let found, let supported):
      .newerSchema(path: new(old), found: found, supported: supported)
    case .damaged(let old, let what): .damaged(path: new(old), what: what)
    default: self
    }
  }
}

import PurchaseSQLite

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A copy of a queue's file, for support tools and for queues that must not change. Other processes can use the queue
/// in the meantime.
///
/// Nothing of the original changes: no byte, no name, no modification time. The snapshot needs read permission for the
/// file, for the files next to it (`-wal`, `-lock`) and for the directory, and space for a copy in the temporary
/// directory. The copy has a directory of its own (0700) until the snapshot goes out of scope. A kill leaves it behind.
///
/// While the copy is made, writers of the queue wait (a few milliseconds, at most five seconds), and a process that
/// closes the queue leaves the log for the next opening. Calls block and belong to one thread at a time.
public final class QueueSnapshot {
  /// The path of the original.
  public let path: String
  /// The size of the original in bytes, when it was copied.
  public let fileBytes: Int
  /// The size of its log in bytes.
  public let logBytes: Int
  /// The schema version of the original; 0 if damage hides it. The copy has this library's version.
  public let schemaVersion: Int
  /// Archived damaged files next to the original, oldest first.
  public let archived: [String]
  /// The findings of a thorough check, made before anything was read. Damaged values are isolated in the copy only.
  public let check: CheckReport
  /// The salvage of the copy, which the next opening of the original will repeat; nil if none is needed.
  public let salvage: SalvageReport?

  // Declared before the directory: the queue is closed before its files are removed.
  private let queue: QueueFile
  private let now: Timestamp
  private let directory: PrivateDirectory

  /// Copies the queue at the path and opens the copy, without a vault.
  ///
  /// Throws `foreignFile` for a file that is no queue, also for an empty file; `newerSchema` for the file of a newer
  /// version; `cannotOpen` if the file is absent or may not be read; `busy` if another process wrote for five seconds;
  /// `damaged` if not even a salvage can open the file; and `diskFull`, `cannotOpen` or `storage` with the path of the
  /// copy if the temporary directory fails.
  ///
  /// - Parameters:
  ///   - path: the queue's file.
  ///   - temporaryDirectory: the directory for the copy; by default the system's.
  ///   - now: names the archived file of a salvage of the copy; nothing else depends on it.
  public init(
    of path: String, temporaryDirectory: String? = nil, now: Date = Date()
  ) throws(QueueError) {
    let parent = temporaryDirectory ?? FileManager.default.temporaryDirectory.path
    let directory = try QueueError.wrapFile(parent) { () throws(FileError) in
      try PrivateDirectory(in: parent, prefix: "queue-snapshot-")
    }
    let copying = QueueCopying(path: path, copy: directory.path + "/queue.sqlite")
    let copied = try copying.run()
    do throws(QueueError) {
      let version = try copying.schemaVersion(of: copied.probe)
      let (queue, check) = try Self.open(copying.copy, now: Timestamp(now))
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
    self.now = Timestamp(now)
    fileBytes = copied.fileBytes
    logBytes = copied.logBytes
    archived = try QueueError.wrapFile(path) { () throws(FileError) in
      try FileArchive(path: path, disk: .system).files()
    }
    salvage = queue.salvage.map {
      SalvageReport(
        what: $0.what, entries: $0.entries, tombstones: $0.tombstones, archived: path,
        losses: $0.losses, lostEntries: $0.lostEntries)
    }
    self.directory = directory
  }

  /// Runs `body` with the copy.
  ///
  /// Throws `QueueError`, or what `body` throws.
  public func read<R>(_ body: (QueueReader) throws -> R) throws -> R {
    do {
      return try body(QueueReader(file: queue, now: now))
    } catch let error as QueueError {
      throw error.moved(from: queue.path, to: path)
    }
  }

  /// Runs `body` with the copy. Changes affect only the copy.
  package func inCopy<R>(_ body: (QueueFile) throws(QueueError) -> R) throws(QueueError) -> R {
    do throws(QueueError) {
      return try body(queue)
    } catch {
      throw error.moved(from: queue.path, to: path)
    }
  }

  /// Counts, sizes and ages of the original, as `QueueFile.health()`, but without the vault.
  public func health() throws(QueueError) -> QueueHealth {
    var health = try inCopy { (queue) throws(QueueError) in try queue.health() }
    health.fileBytes = fileBytes
    health.logBytes = logBytes
    health.schemaVersion = schemaVersion
    health.archived = archived
    return health
  }

  /// True if the original is not damaged.
  public var isSound: Bool { salvage == nil && check.isClean }

  /// Salvages damaged pages, as the next opening of the original would do after such a check.
  private static func open(
    _ copy: String, now: Timestamp
  ) throws(QueueError) -> (QueueFile, CheckReport) {
    var queue: QueueFile? = try QueueFile(path: copy, now: now)
    let check = try QueueCheck.run(path: copy)
    if !check.pages.isEmpty {
      try QueueError.wrapFile(copy) { () throws(FileError) in
        try FileArchive(path: copy, disk: .system).setMark()
      }
      queue = nil
    }
    if let queue { return (queue, check) }
    return (try QueueFile(path: copy, now: now), check)
  }
}

extension QueueError {
  /// The same error with the path of the original.
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

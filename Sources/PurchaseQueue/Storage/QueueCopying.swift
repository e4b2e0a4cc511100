import PurchaseSQLite

/// Copies a queue's file and the files next to it, while no process writes, closes or replaces them.
struct QueueCopying {
  let path: String
  let copy: String
  private let disk = Disk.system

  init(path: String, copy: String) {
    self.path = path
    self.copy = copy
  }

  /// The result of a copy.
  struct Copied {
    var probe: DatabaseProbe
    var fileBytes: Int
    var logBytes: Int

    /// True if the file was empty or an unfinished database: no queue was created in it.
    func isBlank(version: Int) -> Bool {
      probe == .absent || probe == .unwritten && version == 0
    }
  }

  /// The files that belong to the state of a queue: its log, the journal of a file that is being created, the damage
  /// mark, and a salvaged file that is about to replace the damaged one. SQLite builds the log's index again.
  private static let companions = ["-wal", "-journal", "-damage", "-salvaged"]
  /// How many bytes of a possibly foreign file are copied: as many as an opening reads.
  private static let glance = 4 << 20
  private static let piece = 1 << 18

  func run() throws(QueueError) -> Copied {
    // A process that opens the queue creates this file first. Without it, no process uses the queue.
    if let lock = try existingLock() { return try copyAll(under: lock) }
    let copied = try copyAll()
    // The lock file was created since, so another process may have written.
    guard let lock = try existingLock() else { return copied }
    try QueueError.wrapFile(copy) { () throws(FileError) in
      for suffix in [""] + Self.companions { try disk.unlink(copy + suffix) }
    }
    return try copyAll(under: lock)
  }

  private func copyAll(under lock: WriteLock) throws(QueueError) -> Copied {
    try QueueOpener.take(lock, path: path)
    defer { lock.unlock() }
    return try copyAll()
  }

  private func existingLock() throws(QueueError) -> WriteLock? {
    try QueueError.wrapFile(path) { () throws(FileError) in try WriteLock.existing(path) }
  }

  private func copyAll() throws(QueueError) -> Copied {
    let archive = FileArchive(path: path, disk: disk)
    let (source, isReplaced) = try QueueError.wrapFile(path) { () throws(FileError) in
      (try archive.current(), try archive.isBegun())
    }
    try checkKind(of: source)
    let image = try QueueError.wrap(path) { () throws(SQLiteError) in try DatabaseImage(path: source) }
    let (header, size) = try QueueError.wrap(path) { () throws(SQLiteError) in
      (try image.read(from: 0, count: 108), try image.size)
    }
    let probe = DatabaseProbe(header: header)
    try waitForClosers(image)
    defer { image.unlock() }
    // What is being replaced is a queue, whatever is left of it.
    let isQueue = if isReplaced { true } else { try isOurs(probe) }
    let limit = isQueue ? Int.max : Self.glance
    try fill("") { (offset) throws(QueueError) in
      guard offset < limit else { return [] }
      return try QueueError.wrap(path) { () throws(SQLiteError) in
        try image.read(from: offset, count: Self.piece)
      }
    }
    // The companions of a salvaged file belong to the damaged one.
    for suffix in source == path ? Self.companions : [] {
      let name = path + suffix
      let kind = try QueueError.wrapFile(path) { () throws(FileError) in try disk.kind(of: name) }
      guard kind == .file else { continue }
      // No process has POSIX locks on these files, so closing a descriptor drops none.
      try fill(suffix) { (offset) throws(QueueError) in
        guard offset < limit else { return [] }
        return try QueueError.wrapFile(path) { () throws(FileError) in
          try disk.read(name, from: offset, count: Self.piece)
        }
      }
    }
    let log = try QueueError.wrapFile(path) { () throws(FileError) in
      try disk.size(of: source + "-wal")
    }
    return Copied(probe: probe, fileBytes: size, logBytes: log)
  }

  private func checkKind(of source: String) throws(QueueError) {
    let kind = try QueueError.wrapFile(path) { () throws(FileError) in try disk.kind(of: source) }
    switch kind {
    case .file: break
    case .absent: throw .cannotOpen(path: path, reason: "there is no such file")
    case .directory: throw .foreignFile(path: path, found: "a directory")
    case .other: throw .foreignFile(path: path, found: "something that is no file")
    }
    try QueueError.wrapFile(path) { () throws(FileError) in try disk.checkReadable(source) }
  }

  /// The last connection that closes empties the log into the file, under SQLite's lock. Wait for that.
  private func waitForClosers(_ image: borrowing DatabaseImage) throws(QueueError) {
    for _ in 0..<500 {
      let isLocked = try QueueError.wrap(path) { () throws(SQLiteError) in try image.lockShared() }
      if isLocked { return }
      SystemClock.pause(milliseconds: 10)
    }
    throw .busy(path: path, reason: "another process was closing it for five seconds")
  }

  /// As an opening decides it, which salvages a queue whose header is damaged.
  private func isOurs(_ probe: DatabaseProbe) throws(QueueError) -> Bool {
    switch probe {
    case .database(QueueSchema.applicationID, _), .unwritten, .absent: return true
    default: break
    }
    do throws(QueueError) {
      // Reads only: an opening makes a copy next to a file only to look at an unwritten one.
      _ = try QueueOpener(setup: QueueSetup(path: path)).probe()
      return true
    } catch .foreignFile {
      return false
    }
  }

  /// Writes the pieces of a file, one after the other, to the file of the copy with that suffix.
  private func fill(
    _ suffix: String, with piece: (Int) throws(QueueError) -> [UInt8]
  ) throws(QueueError) {
    let target = copy + suffix
    func wrap(_ error: FileError) -> QueueError {
      if error.isDiskFull { return .diskFull(path: target, reason: error.description) }
      return .storage(path: target, reason: error.description)
    }
    var offset = 0
    try disk.fill(target, failing: wrap) { () throws(QueueError) in
      let bytes = try piece(offset)
      offset += bytes.count
      return bytes
    }
  }

  /// The schema version of the copy, including its log, before an opening migrates it. 0 if it cannot be read.
  func schemaVersion(of probe: DatabaseProbe) throws(QueueError) -> Int {
    switch probe {
    case .database, .unwritten: break
    // SQLite would remove the log of an empty file, and the log holds what can be salvaged.
    default: return 0
    }
    do throws(SQLiteError) {
      let connection = try Connection(path: copy, access: .readWrite)
      connection.leaveUntouchedOnClose()
      return Int(try connection.userVersion)
    } catch  where error.code == .corrupt || error.code == .notADatabase {
      return 0
    } catch {
      throw QueueError(error, path: copy)
    }
  }
}

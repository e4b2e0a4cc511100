import PurchaseSQLite

/// Copies a queue's file, and what lies beside it, at a moment at which nobody writes, closes or replaces it.
struct QueueCopying {
  let path: String
  let copy: String

  /// What was copied.
  struct Copied {
    var probe: DatabaseProbe
    var fileBytes: Int
    var logBytes: Int

    /// True if there was nothing to be copied but the beginning of a database: a queue of this version was not made.
    func isBlank(version: Int) -> Bool {
      probe == .absent || probe == .unwritten && version == 0
    }
  }

  /// What belongs to the state of a file: its log, the journal of a file that was being made, a mark of damage, and a
  /// salvaged file that was about to take its place. The index of the log is made anew for the copy.
  private static let besides = ["-wal", "-journal", "-damage", "-salvaged"]
  /// How much of a file that may not be ours is looked at: as much as the opening would.
  private static let glance = 4 << 20
  private static let piece = 1 << 18

  func run() throws(QueueError) -> Copied {
    // Whoever opens the queue makes this file first: no file, nobody there.
    if let lock = try existingLock() { return try copyAll(under: lock) }
    let copied = try copyAll()
    // Made meanwhile: somebody may have written.
    guard let lock = try existingLock() else { return copied }
    for suffix in [""] + Self.besides { DurableFile.discard(copy + suffix) }
    return try copyAll(under: lock)
  }

  private func copyAll(under lock: borrowing AdvisoryLock) throws(QueueError) -> Copied {
    try QueueOpening.take(lock, path: path)
    defer { lock.unlock() }
    return try copyAll()
  }

  private func existingLock() throws(QueueError) -> AdvisoryLock? {
    try QueueError.wrapFile(path) { () throws(FileError) in try AdvisoryLock(existing: path + "-lock") }
  }

  private func copyAll() throws(QueueError) -> Copied {
    try checkKind()
    let image = try QueueError.wrap(path) { () throws(SQLiteError) in try DatabaseImage(path: path) }
    let (header, size) = try QueueError.wrap(path) { () throws(SQLiteError) in
      (try image.read(from: 0, count: 108), try image.size)
    }
    let probe = DatabaseProbe(header: header)
    try waitForClosers(image)
    defer { image.unlock() }
    let limit = isOurs(probe) ? Int.max : Self.glance
    try fill("") { (offset) throws(QueueError) in
      guard offset < limit else { return [] }
      return try QueueError.wrap(path) { () throws(SQLiteError) in
        try image.read(from: offset, count: Self.piece)
      }
    }
    for suffix in Self.besides {
      let name = path + suffix
      let kind = try QueueError.wrapFile(path) { () throws(FileError) in try DurableFile.kind(of: name) }
      guard kind == .file else { continue }
      // Nobody has locks on these: a descriptor of our own does no harm.
      try fill(suffix) { (offset) throws(QueueError) in
        guard offset < limit else { return [] }
        return try QueueError.wrapFile(path) { () throws(FileError) in
          try DurableFile.read(name, from: offset, count: Self.piece)
        }
      }
    }
    let log = try QueueError.wrapFile(path) { () throws(FileError) in
      try DurableFile.size(of: path + "-wal")
    }
    return Copied(probe: probe, fileBytes: size, logBytes: log)
  }

  private func checkKind() throws(QueueError) {
    let kind = try QueueError.wrapFile(path) { () throws(FileError) in try DurableFile.kind(of: path) }
    switch kind {
    case .file: break
    case .absent: throw .cannotOpen(path: path, reason: "there is no such file")
    case .directory: throw .foreignFile(path: path, found: "a directory")
    case .other: throw .foreignFile(path: path, found: "something that is no file")
    }
    try QueueError.wrapFile(path) { () throws(FileError) in try DurableFile.checkReadable(path) }
  }

  /// Somebody who closes the queue as the last one empties the log into the file, under SQLite's lock.
  private func waitForClosers(_ image: borrowing DatabaseImage) throws(QueueError) {
    for _ in 0..<500 {
      let isLocked = try QueueError.wrap(path) { () throws(SQLiteError) in try image.lockShared() }
      if isLocked { return }
      SystemClock.pause(milliseconds: 10)
    }
    throw .busy(path: path, reason: "somebody else had it to itself for five seconds")
  }

  private func isOurs(_ probe: DatabaseProbe) -> Bool {
    switch probe {
    case .database(QueueSchema.applicationID, _), .unwritten, .absent: true
    default: false
    }
  }

  /// Pieces of a file, one after the other, into the copy's file of that suffix.
  private func fill(
    _ suffix: String, with piece: (Int) throws(QueueError) -> [UInt8]
  ) throws(QueueError) {
    let target = copy + suffix
    func wrap(_ error: FileError) -> QueueError {
      if error.isDiskFull { return .diskFull(path: target, reason: error.description) }
      return .storage(path: target, reason: error.description)
    }
    var offset = 0
    try DurableFile.fill(target, failing: wrap) { () throws(QueueError) in
      let bytes = try piece(offset)
      offset += bytes.count
      return bytes
    }
  }

  /// The version in the copy, its log included, before an opening migrates it. 0 if it cannot be read.
  func schemaVersion(of probe: DatabaseProbe) throws(QueueError) -> Int {
    switch probe {
    case .database, .unwritten: break
    // SQLite would remove the log of an empty file, and with it what there is to be salvaged.
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

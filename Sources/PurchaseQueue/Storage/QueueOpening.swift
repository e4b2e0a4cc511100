import PurchaseSQLite

/// What happens to a file before the queue uses it: look first, touch only what is ours. All of it under the
/// inter-process lock, so that two processes do not make, migrate or replace one file at once.
struct QueueOpening {
  let path: String
  /// The failpoints; nil but in tests.
  let hook: ((String) -> Void)?

  private enum Found {
    case nothing
    case queue
    case damaged(String)
  }

  static func lock(of path: String) throws(QueueError) -> AdvisoryLock {
    try QueueError.wrapFile(path) { () throws(FileError) in try AdvisoryLock(path: path + "-lock") }
  }

  /// Waits as long as SQLite would for its own locks.
  static func take(_ lock: borrowing AdvisoryLock, path: String) throws(QueueError) {
    let isTaken: Bool
    do throws(FileError) {
      isTaken = try lock.lock(timeoutMilliseconds: 5_000)
    } catch {
      throw .cannotOpen(path: path, reason: error.description)
    }
    guard isTaken else { throw .busy(path: path, reason: "\(path)-lock was held for five seconds") }
  }

  /// Opens the file, made, migrated or salvaged as need be. Throws without having changed anything if it is not ours.
  func open(now: Timestamp, _ report: inout SalvageReport?) throws(QueueError) -> Connection {
    // Before anything is made: a lock file beside something that is not ours would be a change.
    let isKnown = try QueueError.wrapFile(path) { () throws(FileError) in
      if try SetAside.isBegun(path) { return true }
      return try DurableFile.kind(of: path + "-lock") == .file
    }
    if !isKnown { _ = try probe() }
    let lock = try Self.lock(of: path)
    try Self.take(lock, path: path)
    defer { lock.unlock() }
    try QueueError.wrapFile(path) { () throws(FileError) in try SetAside.resume(path, now: now) }
    let isMarked = try QueueError.wrapFile(path) { () throws(FileError) in try DamageMark.isSet(on: path) }
    if isMarked, case .nothing = try probe() {
      // Whatever was damaged has been taken away.
      try QueueError.wrapFile(path) { () throws(FileError) in try DamageMark.clear(path) }
    } else if isMarked {
      report = try salvage("pages that could not be read", now: now)
    }
    do throws(QueueError) {
      return try connect()
    } catch .damaged(_, let what) where report == nil {
      report = try salvage(what, now: now)
      return try connect()
    }
  }

  private func salvage(_ what: String, now: Timestamp) throws(QueueError) -> SalvageReport {
    hook?("salvage.begin")
    let report = try Salvage(path: path, what: what, now: now).run()
    hook?("salvage.done")
    return report
  }

  private func connect() throws(QueueError) -> Connection {
    let found = try probe()
    if case .damaged(let what) = found { throw .damaged(path: path, what: what) }
    if case .nothing = found {
      // Before SQLite opens it: log and index get the mode that the file has then.
      try QueueError.wrapFile(path) { () throws(FileError) in try DurableFile.createForOwner(path) }
    }
    let connection = try QueueError.wrap(path) { () throws(SQLiteError) in try Connection(path: path) }
    do throws(SQLiteError) {
      try connection.applyConnectionSettings()
      if case .nothing = found {
        hook?("schema.creating")
        try Self.create(connection)
        hook?("schema.created")
      } else {
        try connection.enterWAL()
      }
    } catch {
      throw QueueError(error, path: path)
    }
    if case .nothing = found {
      try QueueError.wrapFile(path) { () throws(FileError) in
        try DurableFile.syncDirectory(of: path)
      }
    }
    try check(connection)
    return connection
  }

  /// Version and schema; the rest is checked in the background (`QueueCheck`).
  private func check(_ connection: borrowing Connection) throws(QueueError) {
    let version = try QueueError.wrap(path) { () throws(SQLiteError) in try connection.userVersion }
    guard version <= QueueSchema.version else {
      connection.leaveUntouchedOnClose()
      throw .newerSchema(path: path, found: Int(version), supported: QueueSchema.version)
    }
    if version < QueueSchema.version {
      hook?("migration.begin")
      try QueueMigration.run(on: connection, from: Int(version))
      hook?("migration.committed")
    }
    let tables = try QueueError.wrap(path) { () throws(SQLiteError) in
      try connection.prepare("SELECT name FROM sqlite_schema WHERE type='table'").all { $0.text(0) }
    }
    let missing = Set(QueueSchema.tables + ["totals"]).subtracting(tables)
    guard missing.isEmpty else {
      throw .damaged(path: path, what: "tables are missing: \(missing.sorted().joined(separator: ", "))")
    }
  }

  static func create(_ connection: borrowing Connection) throws(SQLiteError) {
    try connection.applyNewFileSettings()
    try connection.execute("BEGIN IMMEDIATE")
    // An earlier start may have been killed after this commit.
    if try connection.userVersion == 0 { try QueueSchema.create(in: connection) }
    try connection.execute("COMMIT")
    // Into the main file, so that the next probe reads whose it is from the header.
    _ = try connection.checkpoint()
  }

  // MARK: Looking

  /// Reads bytes only. Throws for what is not ours.
  private func probe() throws(QueueError) -> Found {
    let found = try QueueError.wrapFile(path) { () throws(FileError) in
      try DatabaseProbe.inspect(path: path)
    }
    switch found {
    case .absent:
      let (hasLog, hasLock) = try QueueError.wrapFile(path) { () throws(FileError) in
        (try DurableFile.size(of: path + "-wal") > 0, try DurableFile.kind(of: path + "-lock") == .file)
      }
      guard hasLog else { return .nothing }
      // Opened as it is, SQLite would remove the log. Our lock file says whose it is, also when no page does.
      let isOurs = try isLogOurs()
      guard hasLock || isOurs else {
        throw .foreignFile(path: path, found: "nothing, and beside it somebody else's log")
      }
      return .damaged("the file is empty, and its log is not")
    case .unwritten:
      // Killed while the file was made: nothing but perhaps our own log. A log of somebody else is not ours.
      guard try isOursOrEmpty() else {
        throw .foreignFile(path: path, found: "somebody else's database")
      }
      return .nothing
    case .database(QueueSchema.applicationID, let version):
      guard version <= QueueSchema.version else {
        throw .newerSchema(path: path, found: Int(version), supported: QueueSchema.version)
      }
      return .queue
    case .database:
      guard try isMarkedOurs() else { throw .foreignFile(path: path, found: "somebody else's database") }
      return .damaged("the header does not say whose file it is")
    case .notADatabase:
      if try isBeingMade() { return .nothing }
      let isShort = try QueueError.wrapFile(path) { () throws(FileError) in
        try DurableFile.size(of: path) < 100
      }
      guard try isShort ? isLogOurs() : isMarkedOurs() else {
        throw .foreignFile(path: path, found: "something that is no SQLite database")
      }
      return .damaged("the header is not that of a database")
    case .directory: throw .foreignFile(path: path, found: "a directory")
    }
  }

  /// True if the power failed while the first page was written: a part of it is no database. SQLite's journal, which
  /// was durable before, says that there was nothing in the file, and SQLite makes it empty again
  /// (<https://sqlite.org/fileformat2.html#the_rollback_journal>). Our lock file says whose it is.
  private func isBeingMade() throws(QueueError) -> Bool {
    let header = try QueueError.wrapFile(path) { () throws(FileError) in
      guard try DurableFile.kind(of: path + "-lock") == .file,
        try DurableFile.kind(of: path + "-journal") == .file
      else { return [UInt8]() }
      return try DurableFile.read(path + "-journal", from: 0, count: 20)
    }
    let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    return header.starts(with: magic) && header.dropFirst(16).elementsEqual([0, 0, 0, 0])
  }

  /// True if the text of our schema stands in the file or in its log: no other file has it.
  private func isMarkedOurs() throws(QueueError) -> Bool {
    let mark = Array(QueueSchema.mark.utf8)
    return try QueueError.wrapFile(path) { () throws(FileError) in
      for name in [path, path + "-wal"] where try DurableFile.kind(of: name) == .file {
        if Self.contains(try DatabaseImage.read(name, count: 4 << 20), mark) { return true }
      }
      return false
    }
  }

  /// True if the log has our mark or, which is rare elsewhere, the page size of our files
  /// (<https://sqlite.org/fileformat2.html#the_write_ahead_log>).
  private func isLogOurs() throws(QueueError) -> Bool {
    if try isMarkedOurs() { return true }
    let header = try QueueError.wrapFile(path) { () throws(FileError) in
      guard try DurableFile.kind(of: path + "-wal") == .file else { return [UInt8]() }
      return try DurableFile.read(path + "-wal", from: 0, count: 12)
    }
    return header.starts(with: [0x37, 0x7F, 0x06]) && header.dropFirst(8).elementsEqual([0, 0, 4, 0])
  }

  private static func contains(_ bytes: [UInt8], _ mark: [UInt8]) -> Bool {
    guard bytes.count >= mark.count else { return false }
    return (0...bytes.count - mark.count).contains { start in
      bytes[start] == mark[0] && bytes[start..<start + mark.count].elementsEqual(mark)
    }
  }

  /// Looks into a copy: opening the file itself would recover its log, and so change it.
  private func isOursOrEmpty() throws(QueueError) -> Bool {
    // A name of its own: others may be looking at the same time, for the lock is not held at the first look.
    let copy = path + "-probe-" + String(SQLiteRandom.number(), radix: 16)
    defer { for suffix in ["", "-wal", "-shm"] { DurableFile.discard(copy + suffix) } }
    let hasLog = try QueueError.wrapFile(path) { () throws(FileError) in
      guard try DurableFile.size(of: path + "-wal") > 0 else { return false }
      try DurableFile.replace(copy, with: DatabaseImage.read(path, count: 1 << 20))
      try DurableFile.replace(copy + "-wal", with: DurableFile.read(path + "-wal", from: 0, count: 8 << 20))
      return true
    }
    guard hasLog else { return true }
    return try QueueError.wrap(path) { () throws(SQLiteError) in
      let connection = try Connection(path: copy, access: .readWrite)
      let tables = try connection.prepare("SELECT count(*) FROM sqlite_schema").first { $0.integer(0) }
      if tables == 0 { return true }
      return try connection.applicationID == Int64(QueueSchema.applicationID)
    }
  }
}

import PurchaseSQLite

/// Opens the file of a queue: looks at it first and changes only files of the queue. Everything runs under the
/// inter-process lock, so that two processes do not create, migrate or replace one file at once.
struct QueueOpener {
  let setup: QueueSetup
  var path: String { setup.path }
  var disk: Disk { setup.disk }
  private var archive: FileArchive { FileArchive(path: path, disk: disk) }

  enum Found {
    case nothing
    case queue
    case damaged(String)
  }

  static func lock(of path: String, on disk: Disk) throws(QueueError) -> AdvisoryLock {
    try QueueError.wrapFile(path) { () throws(FileError) in try AdvisoryLock(path: path + "-lock", on: disk) }
  }

  /// Waits as long as SQLite waits for its own locks.
  static func take(_ lock: borrowing AdvisoryLock, path: String) throws(QueueError) {
    let isTaken: Bool
    do throws(FileError) {
      isTaken = try lock.lock(timeoutMilliseconds: 5_000)
    } catch {
      throw .cannotOpen(path: path, reason: error.description)
    }
    guard isTaken else { throw .busy(path: path, reason: "\(path)-lock was held for five seconds") }
  }

  /// Opens the file; creates, migrates or salvages it if needed. Throws without having changed anything if the file is
  /// not a queue.
  func open(now: Timestamp, _ report: inout SalvageReport?) throws(QueueError) -> Connection {
    // Before anything is created: a lock file beside a foreign file would be a change.
    let isKnown = try QueueError.wrapFile(path) { () throws(FileError) in
      if try archive.isBegun() { return true }
      return try disk.kind(of: path + "-lock") == .file
    }
    if !isKnown { _ = try probe() }
    let lock = try Self.lock(of: path, on: disk)
    try Self.take(lock, path: path)
    defer { lock.unlock() }
    try QueueError.wrapFile(path) { () throws(FileError) in try archive.resume(now: now) }
    let isMarked = try QueueError.wrapFile(path) { () throws(FileError) in try archive.isMarkedDamaged() }
    if isMarked, case .nothing = try probe() {
      // The damaged file is gone.
      try QueueError.wrapFile(path) { () throws(FileError) in try archive.clearMark() }
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
    setup.checkpoint?(.salvageBegin)
    let report = try Salvage(path: path, disk: disk, what: what, now: now).run()
    setup.checkpoint?(.salvageDone)
    return report
  }

  private func connect() throws(QueueError) -> Connection {
    let found = try probe()
    if case .damaged(let what) = found { throw .damaged(path: path, what: what) }
    if case .nothing = found {
      // Before SQLite opens it: log and index get the permissions that the file has then.
      try QueueError.wrapFile(path) { () throws(FileError) in try disk.createForOwner(path) }
    }
    let connection = try QueueError.wrap(path) { () throws(SQLiteError) in
      try Connection(path: path, on: disk)
    }
    do throws(SQLiteError) {
      try connection.applyConnectionSettings()
      if case .nothing = found {
        setup.checkpoint?(.schemaCreating)
        try Self.create(connection)
        setup.checkpoint?(.schemaCreated)
      } else {
        try connection.enterWAL()
      }
    } catch {
      throw QueueError(error, path: path)
    }
    if case .nothing = found {
      try QueueError.wrapFile(path) { () throws(FileError) in
        try disk.syncDirectory(of: path)
      }
    }
    try check(connection)
    return connection
  }

  /// Checks version and schema. `QueueCheck` checks the rest in the background.
  private func check(_ connection: borrowing Connection) throws(QueueError) {
    let version = try QueueError.wrap(path) { () throws(SQLiteError) in try connection.userVersion }
    guard version <= QueueSchema.version else {
      connection.leaveUntouchedOnClose()
      throw .newerSchema(path: path, found: Int(version), supported: QueueSchema.version)
    }
    if version < QueueSchema.version {
      setup.checkpoint?(.migrationBegin)
      try QueueMigration.run(on: connection, from: Int(version))
      setup.checkpoint?(.migrationCommitted)
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
    // Into the main file, so that the next probe identifies the file by its header.
    _ = try connection.checkpoint()
  }
}

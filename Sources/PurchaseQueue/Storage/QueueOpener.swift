import PurchaseSQLite

/// Opens the file of a queue: looks at it first and changes only files of the queue. Everything runs under the
/// inter-process lock, so that two processes do not create, migrate or replace one file at once.
struct QueueOpener {
  let setup: QueueSetup
  /// How long to wait for another process, in milliseconds.
  var waiting = QueueOpener.patience
  var path: String { setup.path }
  var disk: Disk { setup.disk }
  private var archive: FileArchive { FileArchive(path: path, disk: disk) }

  enum Found {
    case nothing
    case queue
    case damaged(String)
  }

  static func lock(of path: String, on disk: Disk, makesTurn: Bool) throws(QueueError) -> WriteLock {
    try QueueError.wrapFile(path) { () throws(FileError) in
      try WriteLock.open(path, on: disk, makesTurn: makesTurn)
    }
  }

  /// How long a call waits for another process, in milliseconds: as long as SQLite waits for its own locks.
  static let patience = 5_000

  /// - Parameter milliseconds: how long to wait. With 0, the lock keeps its place in the line.
  static func take(
    _ lock: WriteLock, path: String, waiting milliseconds: Int = patience
  ) throws(QueueError) {
    let isTaken: Bool
    do throws(FileError) {
      isTaken = milliseconds == 0 ? try lock.tryTake() : try lock.take(timeoutMilliseconds: milliseconds)
    } catch {
      throw .cannotOpen(path: path, reason: error.description)
    }
    guard isTaken else {
      throw .busy(path: path, reason: "\(path)-lock was held for \(milliseconds) ms")
    }
  }

  /// Opens the file; creates, migrates or salvages it if needed. Throws without having changed anything if the file is
  /// not a queue.
  func open(now: Timestamp, _ report: inout SalvageReport?) throws(QueueError) -> Connection {
    // Before anything is created: a lock file next to a foreign file would be a change.
    let isKnown = try QueueError.wrapFile(path) { () throws(FileError) in
      if try archive.isBegun() { return true }
      return try disk.kind(of: path + "-lock") == .file
    }
    if !isKnown { _ = try probe() }
    // An opening that throws has changed nothing.
    let lock = try Self.lock(of: path, on: disk, makesTurn: false)
    try Self.take(lock, path: path, waiting: waiting)
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
    let report = try Salvage(setup: setup, what: what, now: now).run()
    setup.checkpoint?(.salvageDone)
    return report
  }

  private func connect() throws(QueueError) -> Connection {
    let found = try probe()
    if case .damaged(let what) = found { throw .damaged(path: path, what: what) }
    if case .queue = found, let what = try mendLog() { throw .damaged(path: path, what: what) }
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
    if version != QueueSchema.version {
      let found = try schema(of: connection)
      let isCurrent = SchemaText.problem(found.items, pages: found.pages) == nil
      guard !isCurrent || !isFlipped(version) else {
        throw .damaged(path: path, what: "the header has version \(version), and the schema another")
      }
      guard version <= QueueSchema.version else {
        connection.leaveUntouchedOnClose()
        throw .newerSchema(path: path, found: Int(version), supported: QueueSchema.version)
      }
      guard version >= 0 else { throw .damaged(path: path, what: "the header has version \(version)") }
      setup.checkpoint?(.migrationBegin)
      try QueueMigration.run(on: connection, from: Int(version))
      setup.checkpoint?(.migrationCommitted)
    }
    let found = try schema(of: connection)
    if let what = SchemaText.problem(found.items, pages: found.pages) {
      throw .damaged(path: path, what: what)
    }
    try checkOthers(SchemaText.others(found.items), connection)
  }

  /// True if a flipped bit explains why a header does not have our version. An earlier version has another schema.
  func isFlipped(_ version: Int64) -> Bool {
    version < QueueSchema.version || HeaderCheck.areOneBitApart(version, Int64(QueueSchema.version))
  }

  private func schema(
    of connection: borrowing Connection
  ) throws(QueueError) -> (items: [SchemaText.Item], pages: Int64) {
    try QueueError.wrap(path) { () throws(SQLiteError) in
      (try connection.prepare(SchemaText.select).all { SchemaText.item($0) }, Int64(try connection.pages))
    }
  }

  /// Compares the schema of other modules with its checksums, and notes those of new tables.
  private func checkOthers(
    _ others: [SchemaText.Item], _ connection: borrowing Connection
  ) throws(QueueError) {
    let notes = try QueueError.wrap(path) { () throws(SQLiteError) in try SchemaNotes.read(connection) }
    let known = notes.first.map(SchemaText.checksums(in:))
    if let what = SchemaText.problem(ofOthers: others, known: known ?? []) {
      throw .damaged(path: path, what: what)
    }
    let note = SchemaText.note(of: others)
    guard notes != [note, note], !(notes.isEmpty && others.isEmpty) else { return }
    try QueueError.wrap(path) { () throws(SQLiteError) in try SchemaNotes.write(note, connection) }
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

import PurchaseSQLite

/// What happens to a file before the queue uses it: look first, touch only what is ours.
enum QueueOpening {
  /// True if the file has to be made. Throws for anything that is not ours, having changed nothing.
  static func probe(_ path: String) throws(QueueError) -> Bool {
    let found: DatabaseProbe
    do throws(FileError) {
      found = try DatabaseProbe.inspect(path: path)
    } catch {
      throw .cannotOpen(path: path, reason: error.description)
    }
    switch found {
    case .absent:
      return true
    case .unwritten:
      // Killed while the file was made: nothing but perhaps our own log. A log of somebody else is not ours.
      guard try isOursOrEmpty(path) else {
        throw .foreignFile(path: path, found: "somebody else's database")
      }
      return true
    case .database(QueueSchema.applicationID, let version):
      guard version <= QueueSchema.version else {
        throw .newerSchema(path: path, found: Int(version), supported: QueueSchema.version)
      }
      return false
    case .database: throw .foreignFile(path: path, found: "somebody else's database")
    case .notADatabase: throw .foreignFile(path: path, found: "something that is no SQLite database")
    case .directory: throw .foreignFile(path: path, found: "a directory")
    }
  }

  /// Looks into a copy: opening the file itself would recover its log, and so change it.
  private static func isOursOrEmpty(_ path: String) throws(QueueError) -> Bool {
    let copy = path + ".probe"
    do throws(FileError) {
      guard try DurableFile.size(of: path + "-wal") > 0 else { return true }
      try DurableFile.replace(copy, with: DurableFile.read(path, from: 0, count: 1 << 20))
      try DurableFile.replace(copy + "-wal", with: DurableFile.read(path + "-wal", from: 0, count: 4 << 20))
    } catch {
      throw .cannotOpen(path: path, reason: error.description)
    }
    defer { for suffix in ["", "-wal", "-shm"] { DurableFile.discard(copy + suffix) } }
    return try QueueError.wrap(path) { () throws(SQLiteError) in
      let connection = try Connection(path: copy, access: .readWrite)
      let tables = try connection.prepare("SELECT count(*) FROM sqlite_schema").first { $0.integer(0) }
      if tables == 0 { return true }
      return try connection.applicationID == Int64(QueueSchema.applicationID)
    }
  }

  /// Settings and, on a new file, the schema.
  static func prepare(_ connection: borrowing Connection, isNew: Bool) throws(QueueError) {
    let path = connection.path
    do throws(SQLiteError) {
      try connection.applyConnectionSettings()
      if isNew { try create(connection) } else { try connection.enterWAL() }
    } catch {
      throw QueueError(error, path: path)
    }
    do throws(FileError) {
      if isNew {
        try DurableFile.restrictToOwner(path)
        try DurableFile.syncDirectory(of: path)
      }
    } catch {
      throw .cannotOpen(path: path, reason: error.description)
    }
    let version = try userVersion(connection)
    guard version <= QueueSchema.version else {
      connection.leaveUntouchedOnClose()
      throw .newerSchema(path: path, found: Int(version), supported: QueueSchema.version)
    }
  }

  private static func userVersion(_ connection: borrowing Connection) throws(QueueError) -> Int64 {
    do throws(SQLiteError) {
      return try connection.userVersion
    } catch {
      throw QueueError(error, path: connection.path)
    }
  }

  private static func create(_ connection: borrowing Connection) throws(SQLiteError) {
    try connection.applyNewFileSettings()
    try connection.execute("BEGIN IMMEDIATE")
    // Another process may have been faster, or an earlier start was killed after this commit.
    if try connection.userVersion == 0 { try QueueSchema.create(in: connection) }
    try connection.execute("COMMIT")
    // Into the main file, so that the next probe reads whose it is from the header.
    try connection.checkpoint()
  }
}

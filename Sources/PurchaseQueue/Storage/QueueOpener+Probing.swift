import PurchaseSQLite

/// Finds out what is at the path, without changing it.
extension QueueOpener {
  /// Reads bytes only. Throws for a foreign file.
  func probe() throws(QueueError) -> Found {
    var (found, header) = try QueueError.wrapFile(path) { () throws(FileError) in
      try DatabaseProbe.read(path: path, on: disk)
    }
    // A power cut in the middle of a checkpoint tears the first page. The log still has it, and SQLite takes it from there.
    if !isSound(found, header), let newer = try headerInLog() {
      (found, header) = (DatabaseProbe(header: newer), newer)
    }
    switch found {
    case .absent:
      let (hasLog, hasLock) = try QueueError.wrapFile(path) { () throws(FileError) in
        (try disk.size(of: path + "-wal") > 0, try disk.kind(of: path + "-lock") == .file)
      }
      guard hasLog else { return .nothing }
      // SQLite would remove the log if it opened the file now. The lock file shows that the file is a queue, even if no
      // page does.
      let isOurs = try isLogOurs()
      guard hasLock || isOurs else {
        throw .foreignFile(path: path, found: "nothing, and beside it a foreign log")
      }
      return .damaged("the file is empty, and its log is not")
    case .unwritten:
      // A kill while the file was created leaves only our own log, or none. A foreign log means a foreign file.
      guard try isOursOrEmpty() else {
        throw .foreignFile(path: path, found: "a foreign database")
      }
      return .nothing
    case .database(QueueSchema.applicationID, let version):
      return try queue(version, header)
    case .database:
      guard try isMarkedOurs() else { throw .foreignFile(path: path, found: "a foreign database") }
      return .damaged("the header does not say whose file it is")
    case .notADatabase:
      if try isBeingMade() { return .nothing }
      let isShort = try QueueError.wrapFile(path) { () throws(FileError) in
        try disk.size(of: path) < 100
      }
      // The lock file shows that the file is a queue; the first bytes show that it was a database.
      if isShort, Array("SQLite format 3\0".utf8).starts(with: header.prefix(16)),
        try QueueError.wrapFile(path, { () throws(FileError) in try disk.kind(of: path + "-lock") == .file })
      {
        return .damaged("the file is cut off")
      }
      guard try isShort ? isLogOurs() : isMarkedOurs() else {
        throw .foreignFile(path: path, found: "something that is no SQLite database")
      }
      return .damaged("the header is not that of a database")
    case .directory: throw .foreignFile(path: path, found: "a directory")
    }
  }

  /// True if the header is as it should be, or if there is none.
  private func isSound(_ found: DatabaseProbe, _ header: [UInt8]) -> Bool {
    switch found {
    case .absent, .unwritten, .directory: true
    case .notADatabase: false
    case .database(let id, let version):
      id == QueueSchema.applicationID && version == QueueSchema.version
        && HeaderCheck.problem(header, size: 0, isAlone: false) == nil
    }
  }

  /// The header in the log of a queue; nil if the log is damaged, foreign, or does not hold the first page.
  private func headerInLog() throws(QueueError) -> [UInt8]? {
    let log = try QueueError.wrapFile(path) { () throws(FileError) in try LogImage(of: path, on: disk) }
    guard log.damage == nil, !log.isHeaderDamaged, let page = PageImage(file: [], log: log).page(1) else {
      return nil
    }
    let header = Array(page.bytes[page.start..<page.start + 108])
    guard case .database(QueueSchema.applicationID, _) = DatabaseProbe(header: header) else { return nil }
    return header
  }

  /// A file with our number in its header.
  private func queue(_ version: UInt32, _ header: [UInt8]) throws(QueueError) -> Found {
    if version > QueueSchema.version {
      let isOurs = isFlipped(Int64(version)) ? try hasOurSchema() : false
      guard isOurs else {
        throw .newerSchema(path: path, found: Int(version), supported: QueueSchema.version)
      }
      return .damaged("the header has version \(version), and the schema version \(QueueSchema.version)")
    }
    let (size, log) = try QueueError.wrapFile(path) { () throws(FileError) in
      (try disk.size(of: path), try disk.size(of: path + "-wal") + disk.size(of: path + "-journal"))
    }
    if let what = HeaderCheck.problem(header, size: size, isAlone: log == 0) { return .damaged(what) }
    return .queue
  }

  /// True if every text of this version's schema is in the file. Every version has texts of its own.
  private func hasOurSchema() throws(QueueError) -> Bool {
    try PageImage.inPieces(of: path, on: disk) { image in
      var walk = TreeWalk(image)
      var texts: Set<String> = []
      walk.walk(from: 1, isTable: true) { row in
        if let sql = SchemaText.item(row.values)?.sql { texts.insert(sql) }
      }
      return texts.isSuperset(of: SchemaText.own.values)
    }
  }

  /// What is wrong with the log, so that SQLite would drop commits from it without a word; nil for nothing. Writes what
  /// the log lacks for SQLite to read its last commit. Call it under the inter-process lock.
  func mendLog() throws(QueueError) -> String? {
    let log = try QueueError.wrapFile(path) { () throws(FileError) in try LogImage(of: path, on: disk) }
    guard log.bytes.count > LogImage.headerSize else { return nil }
    if let damage = log.damage { return damage }
    if let range = log.correction {
      try QueueError.wrapFile(path) { () throws(FileError) in
        try disk.overwrite(path + "-wal", at: range.lowerBound, with: Array(log.bytes[range]))
      }
    }
    guard log.isHeaderDamaged, !log.frames.isEmpty else { return nil }
    let addsToFile = try PageImage.inPieces(of: path, on: disk, log: log) { $0.addsToFile }
    return addsToFile ? "the header of the log is damaged" : nil
  }

  /// True if the power failed while the first page was written: a part of a page is no database. SQLite's journal was
  /// durable before; it says that the file was empty, and SQLite makes it empty again
  /// (<https://sqlite.org/fileformat2.html#the_rollback_journal>). The lock file shows that the file is a queue.
  private func isBeingMade() throws(QueueError) -> Bool {
    let header = try QueueError.wrapFile(path) { () throws(FileError) in
      guard try disk.kind(of: path + "-lock") == .file,
        try disk.kind(of: path + "-journal") == .file
      else { return [UInt8]() }
      return try disk.read(path + "-journal", from: 0, count: 20)
    }
    let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    return header.starts(with: magic) && header.dropFirst(16).elementsEqual([0, 0, 0, 0])
  }

  /// True if the file or its log contains the mark of our schema: no other file has it.
  private func isMarkedOurs() throws(QueueError) -> Bool {
    let mark = Array(QueueSchema.mark.utf8)
    return try QueueError.wrapFile(path) { () throws(FileError) in
      // SQLite reads the file, because of its locks. The log may be gone at any moment: another process closes it.
      if try disk.kind(of: path) == .file,
        Self.contains(try DatabaseImage.read(path, on: disk, count: 4 << 20), mark)
      {
        return true
      }
      return Self.contains(try disk.readIfPresent(path + "-wal", count: 4 << 20), mark)
    }
  }

  /// True if the log contains our mark or has the page size of our files, which is rare elsewhere
  /// (<https://sqlite.org/fileformat2.html#the_write_ahead_log>).
  private func isLogOurs() throws(QueueError) -> Bool {
    if try isMarkedOurs() { return true }
    let header = try QueueError.wrapFile(path) { () throws(FileError) in
      try disk.readIfPresent(path + "-wal", count: 12)
    }
    return header.starts(with: [0x37, 0x7F, 0x06]) && header.dropFirst(8).elementsEqual([0, 0, 4, 0])
  }

  private static func contains(_ bytes: [UInt8], _ mark: [UInt8]) -> Bool {
    guard bytes.count >= mark.count else { return false }
    return (0...bytes.count - mark.count).contains { start in
      bytes[start] == mark[0] && bytes[start..<start + mark.count].elementsEqual(mark)
    }
  }

  /// Opens a copy: opening the file itself would recover its log and change the file.
  private func isOursOrEmpty() throws(QueueError) -> Bool {
    // A unique name: the first probe runs without the lock, so several processes may probe at once.
    let copy = path + "-probe-" + String(SQLiteRandom.number(), radix: 16)
    defer { for suffix in ["", "-wal", "-shm"] { disk.discard(copy + suffix) } }
    let hasLog = try QueueError.wrapFile(path) { () throws(FileError) in
      // The log first: another process that closes the file moves the log into it.
      let log = try disk.readIfPresent(path + "-wal", count: 8 << 20)
      guard !log.isEmpty else { return false }
      try disk.replace(copy, with: DatabaseImage.read(path, on: disk, count: 1 << 20))
      try disk.replace(copy + "-wal", with: log)
      return true
    }
    guard hasLog else { return true }
    return try QueueError.wrap(path) { () throws(SQLiteError) in
      let connection = try Connection(path: copy, on: disk, access: .readWrite)
      let tables = try connection.prepare("SELECT count(*) FROM sqlite_schema").first { $0.integer(0) }
      if tables == 0 { return true }
      return try connection.applicationID == Int64(QueueSchema.applicationID)
    }
  }
}

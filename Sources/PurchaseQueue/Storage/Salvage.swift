import PurchaseSQLite

/// What was saved from a damaged file.
public struct SalvageReport: Hashable, Sendable {
  /// What was wrong.
  public var what: String
  /// Entries that were saved; some may have lost their proofs.
  public var entries: Int
  /// Tombstones that were saved.
  public var tombstones: Int
  /// The damaged file, kept.
  public var setAside: String
}

/// Copies what can be read of a damaged file into a new one. Nothing of the damaged file changes: a copy is read.
struct Salvage {
  let path: String
  let what: String
  let now: Timestamp

  /// To be called under the inter-process lock.
  func run() throws(QueueError) -> SalvageReport {
    let source = path + "-salvage-source"
    defer { Self.discard(source) }
    let target = SetAside.building(path)
    // What a killed salvage left: its log must not meet the copy of this one.
    Self.discard(source)
    Self.discard(target)
    let saved = try fill(target, from: source)
    try QueueError.wrapFile(path) { () throws(FileError) in
      for suffix in ["-wal", "-shm"] { DurableFile.discard(target + suffix) }
      try SetAside.replace(path, now: now)
    }
    let setAside = try QueueError.wrapFile(path) { () throws(FileError) in try SetAside.files(of: path).last }
    return SalvageReport(
      what: what, entries: saved.entries, tombstones: saved.tombstones, setAside: setAside ?? path)
  }

  private func fill(
    _ target: String, from source: String
  ) throws(QueueError) -> (entries: Int, tombstones: Int) {
    try QueueError.wrapFile(path) { () throws(FileError) in try DurableFile.createForOwner(target) }
    let fresh = try QueueError.wrap(path) { () throws(SQLiteError) in try Connection(path: target) }
    try QueueError.wrap(path) { () throws(SQLiteError) in
      try fresh.applyConnectionSettings()
      // Rows come in the order of the tables, not of their references.
      try fresh.execute("PRAGMA foreign_keys=OFF")
      try QueueOpening.create(fresh)
    }
    try copyWithGoodHeader(to: source, template: target)
    do throws(SQLiteError) {
      let old = try Connection(path: source, access: .readWrite)
      try Self.loadSchema(of: old)
      let tables = try TableCopy.companions(of: old)
      try fresh.execute("BEGIN IMMEDIATE; DELETE FROM totals")
      for table in QueueSchema.tables { _ = try TableCopy(name: table).run(from: old, to: fresh) }
      for table in tables {
        try fresh.execute(table.sql)
        _ = try TableCopy(name: table.name).run(from: old, to: fresh)
      }
      try Self.addParts(from: old, to: fresh)
      try LastPlace.take(from: old, to: fresh)
      try fresh.execute("COMMIT")
    } catch  where error.code.primary == .corrupt || error.code.primary == .notADatabase {
      // Not even the schema can be read: nothing to be saved. Redelivery and the vault bring the purchases back.
      if fresh.isInTransaction {
        try QueueError.wrap(path) { () throws(SQLiteError) in try fresh.execute("ROLLBACK") }
      }
    } catch {
      throw QueueError(error, path: path)
    }
    return try QueueError.wrap(path) { () throws(SQLiteError) in
      let count = try fresh.prepare(
        "SELECT (SELECT count(*) FROM entries), (SELECT count(*) FROM tombstones)"
      )
      .first { (entries: Int($0.integer(0)), tombstones: Int($0.integer(1))) }
      _ = try fresh.checkpoint()
      return count ?? (0, 0)
    }
  }

  /// A line of the schema that is damaged costs its table, and not all of them. That is asked of SQLite only if there
  /// is one: while it is, SQLite passes over the errors of a failing device as well, and whole tables would be left
  /// behind.
  private static func loadSchema(of old: borrowing Connection) throws(SQLiteError) {
    do throws(SQLiteError) {
      _ = try old.prepare("SELECT count(*) FROM sqlite_schema").first { $0.integer(0) }
    } catch  where error.code.primary == .corrupt {
      try old.execute("PRAGMA writable_schema=ON")
    }
  }

  private static func addParts(
    from old: borrowing Connection, to fresh: borrowing Connection
  ) throws(SQLiteError) {
    for sql in try TableCopy.companionParts(of: old, missingIn: fresh) {
      do throws(SQLiteError) {
        try fresh.execute(sql)
      } catch  where error.code.primary == .constraint || error.code.primary == .error {
        // A unique index over rows that damage made equal, or one of a table that is lost.
        continue
      }
    }
  }

  /// A copy of file and log that SQLite agrees to open: a header that is garbage, or that counts pages which are not
  /// there, is replaced by that of a new file of ours.
  private func copyWithGoodHeader(to copy: String, template: String) throws(QueueError) {
    try QueueError.wrapFile(path) { () throws(FileError) in
      // The log first: a connection that another process closes meanwhile moves it into the file, and removes it.
      if try DurableFile.kind(of: path + "-wal") == .file {
        try DurableFile.replace(copy + "-wal", with: DurableFile.read(path + "-wal"))
      }
      var bytes = try DurableFile.kind(of: path) == .file ? DatabaseImage.read(path) : []
      var header = Array(try DurableFile.read(template, from: 0, count: 100))
      let blank = try DurableFile.read(template)
      if bytes.count < 1024 { bytes = blank }
      let pages = UInt32(clamping: bytes.count / 1024)
      let counted = Self.bigEndian32(bytes, 28)
      if !bytes.starts(with: Array("SQLite format 3\0".utf8)) || counted > pages
        || Self.pageSize(bytes) != 1024
      {
        for (index, shift) in [24, 16, 8, 0].enumerated() {
          header[28 + index] = UInt8(truncatingIfNeeded: pages >> UInt32(shift))
        }
        // No free pages: nothing will be written to the copy.
        for index in 32..<40 { header[index] = 0 }
        bytes.replaceSubrange(0..<100, with: header)
      }
      try DurableFile.replace(copy, with: bytes)
    }
  }

  private static func bigEndian32(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
    bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }

  private static func pageSize(_ bytes: [UInt8]) -> Int { Int(bytes[16]) << 8 | Int(bytes[17]) }

  private static func discard(_ path: String) {
    for suffix in ["", "-wal", "-shm"] { DurableFile.discard(path + suffix) }
  }
}

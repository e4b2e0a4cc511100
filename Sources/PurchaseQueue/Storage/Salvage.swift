import PurchaseSQLite

/// The result of salvaging a damaged file.
public struct SalvageReport: Hashable, Sendable {
  /// The damage that was found.
  public var what: String
  /// How many entries were saved; some may have lost their proofs.
  public var entries: Int
  /// How many tombstones were saved.
  public var tombstones: Int
  /// The path of the damaged file, which is kept.
  public var archived: String
}

/// Copies the readable rows of a damaged file into a new file. The damaged file does not change: a copy of it is read.
struct Salvage {
  let path: String
  let disk: Disk
  let what: String
  let now: Timestamp

  /// Call it under the inter-process lock.
  func run() throws(QueueError) -> SalvageReport {
    let archive = FileArchive(path: path, disk: disk)
    let source = path + "-salvage-source"
    defer { discard(source) }
    let target = archive.building
    // Leftovers of a killed salvage: its log must not meet the copy of this one.
    discard(source)
    discard(target)
    let saved = try fill(target, from: source)
    try QueueError.wrapFile(path) { () throws(FileError) in
      for suffix in ["-wal", "-shm"] { disk.discard(target + suffix) }
      try archive.replace(now: now)
    }
    let archived = try QueueError.wrapFile(path) { () throws(FileError) in
      try archive.files().last
    }
    return SalvageReport(
      what: what, entries: saved.entries, tombstones: saved.tombstones, archived: archived ?? path)
  }

  private func fill(
    _ target: String, from source: String
  ) throws(QueueError) -> (entries: Int, tombstones: Int) {
    try QueueError.wrapFile(path) { () throws(FileError) in try disk.createForOwner(target) }
    let fresh = try QueueError.wrap(path) { () throws(SQLiteError) in try Connection(path: target, on: disk) }
    try QueueError.wrap(path) { () throws(SQLiteError) in
      try fresh.applyConnectionSettings()
      try QueueOpener.create(fresh)
    }
    try copyWithGoodHeader(to: source, template: target)
    do throws(SQLiteError) {
      let old = try Connection(path: source, on: disk, access: .readWrite)
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
      // Not even the schema can be read, so nothing can be saved. Redelivery and the vault restore the purchases.
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

  /// A damaged line of the schema must cost only its table. `writable_schema` makes SQLite skip such lines, but then it
  /// also skips errors of a failing device, which would lose whole tables. So it is set only if a line is damaged.
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
        // A unique index over rows that damage made equal, or an index of a lost table.
        continue
      }
    }
  }

  /// Makes a copy of file and log that SQLite can open: a damaged header, or one that counts missing pages, is replaced
  /// by the header of a new queue.
  private func copyWithGoodHeader(to copy: String, template: String) throws(QueueError) {
    try QueueError.wrapFile(path) { () throws(FileError) in
      // The log first: another process that closes its connection meanwhile moves the log into the file and removes it.
      if try disk.kind(of: path + "-wal") == .file {
        try disk.replace(copy + "-wal", with: disk.read(path + "-wal"))
      }
      var bytes = try disk.kind(of: path) == .file ? DatabaseImage.read(path, on: disk) : []
      var header = Array(try disk.read(template, from: 0, count: 100))
      let blank = try disk.read(template)
      if bytes.count < 1024 { bytes = blank }
      let pages = UInt32(clamping: bytes.count / 1024)
      let counted = Self.bigEndian32(bytes, 28)
      if !bytes.starts(with: Array("SQLite format 3\0".utf8)) || counted > pages
        || Self.pageSize(bytes) != 1024
      {
        for (index, shift) in [24, 16, 8, 0].enumerated() {
          header[28 + index] = UInt8(truncatingIfNeeded: pages >> UInt32(shift))
        }
        // No free pages: the copy is only read.
        for index in 32..<40 { header[index] = 0 }
        bytes.replaceSubrange(0..<100, with: header)
      }
      try disk.replace(copy, with: bytes)
    }
  }

  private static func bigEndian32(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
    bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }

  private static func pageSize(_ bytes: [UInt8]) -> Int { Int(bytes[16]) << 8 | Int(bytes[17]) }

  private func discard(_ path: String) {
    for suffix in ["", "-wal", "-shm"] { disk.discard(path + suffix) }
  }
}

import PurchaseSQLite

/// The result of salvaging a damaged file.
public struct SalvageReport: Hashable, Sendable {
  /// The damage that was found.
  public var what: String
  /// How many entries were saved, damaged ones included; some may have lost their payloads.
  public var entries: Int
  /// How many tombstones were saved.
  public var tombstones: Int
  /// The path of the damaged file, which is kept.
  public var archived: String
  /// What could not be saved, a line each; empty if nothing is known to be lost.
  public var losses: [String] = []
  /// How many entries were not found again; nil if the file's own count of them is lost too.
  public var lostEntries: Int?
}

/// Copies everything readable of a damaged file into a new file. The damaged file does not change, and none of its SQL is
/// run: `Recovery` reads its pages.
struct Salvage {
  let setup: QueueSetup
  let what: String
  let now: Timestamp
  private var path: String { setup.path }
  private var disk: Disk { setup.disk }

  /// Call it under the inter-process lock.
  func run() throws(QueueError) -> SalvageReport {
    let archive = FileArchive(path: path, disk: disk)
    let target = archive.building
    // Leftovers of a killed salvage: SQLite would read them as a part of the new file.
    try QueueError.wrapFile(path) { () throws(FileError) in
      for suffix in ["", "-wal", "-shm"] { try disk.unlink(target + suffix) }
    }
    let saved = try fill(target)
    try QueueError.wrapFile(path) { () throws(FileError) in
      for suffix in ["-wal", "-shm"] { try disk.unlink(target + suffix) }
      try archive.replace(now: now)
    }
    let archived = try QueueError.wrapFile(path) { () throws(FileError) in
      try archive.files().last
    }
    return SalvageReport(
      what: what, entries: saved.entries, tombstones: saved.tombstones, archived: archived ?? path,
      losses: saved.losses, lostEntries: saved.lostEntries)
  }

  private func fill(_ target: String) throws(QueueError) -> SalvagedRows {
    let images = try QueueError.wrapFile(path) { () throws(FileError) in
      try PageImage.readings(of: path, on: disk)
    }
    try QueueError.wrapFile(path) { () throws(FileError) in try disk.createForOwner(target) }
    let fresh = try QueueError.wrap(path) { () throws(SQLiteError) in try Connection(path: target, on: disk) }
    return try QueueError.wrap(path) { () throws(SQLiteError) in
      try fresh.applyConnectionSettings()
      try QueueOpener.create(fresh)
      let decoder = RowDecoder(fresh)
      var recovery = try Recovery(images[0], decoder: decoder, schemas: setup.schemas)
      for image in images.dropFirst() {
        let other = try Recovery(image, decoder: decoder, schemas: setup.schemas)
        if other.amount > recovery.amount { recovery = other }
      }
      try fresh.execute("BEGIN IMMEDIATE")
      let saved = try SalvagedRows(recovery, in: fresh)
      try fresh.execute("COMMIT")
      guard try fresh.checkpoint() else {
        throw SQLiteError(code: .busy, message: "the salvaged rows are in its log only")
      }
      return saved
    }
  }
}

extension PageImage {
  /// The file and its log, in each way in which a damaged log can be read. An absent file has no pages.
  static func readings(of path: String, on disk: Disk) throws(FileError) -> [PageImage] {
    // The log first: another process that closes its connection at this moment moves the log into the file and removes
    // it.
    let log = try LogImage(of: path, on: disk)
    let file = PageFile(try disk.kind(of: path) == .file ? DatabaseImage.read(path, on: disk) : [])
    return [PageImage(file, log: log)] + (log.alternative.map { [PageImage(file, log: $0)] } ?? [])
  }
}

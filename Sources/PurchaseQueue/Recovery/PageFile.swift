import PurchaseSQLite

/// The bytes of a database file: all of them in memory, or read in pieces as they are asked for.
///
/// A check of the whole file reads it in pieces: the file may be larger than what an app extension may use. Belongs to
/// one thread at a time. Pieces are of one moment only while no other process writes.
final class PageFile {
  /// 16 pages: the rest of a long record is mostly on the pages behind it.
  private static let piece = 16 * LogImage.pageSize

  /// In bytes.
  let size: Int
  /// What a piece could not be read for. Its pages count as absent, so look here before you believe that.
  private(set) var failure: SQLiteError?

  private let image: DatabaseImage?
  private var bytes: [UInt8]
  private var start = 0

  init(_ bytes: [UInt8]) {
    image = nil
    size = bytes.count
    self.bytes = bytes
  }

  /// Opens an existing file.
  init(of path: String, on disk: Disk) throws(SQLiteError) {
    let opened = try DatabaseImage(path: path, on: disk)
    size = try opened.size
    image = consume opened
    bytes = []
  }

  /// Nil for a page that is not whole in the file.
  func page(_ number: Int) -> PageImage.Page? {
    let offset = (number - 1) * LogImage.pageSize
    guard offset >= 0, offset + LogImage.pageSize <= size else { return nil }
    if offset < start || offset + LogImage.pageSize > start + bytes.count { load(offset) }
    guard offset >= start, offset + LogImage.pageSize <= start + bytes.count else { return nil }
    return PageImage.Page(bytes: bytes, start: offset - start)
  }

  private func load(_ offset: Int) {
    let first = offset / Self.piece * Self.piece
    do throws(SQLiteError) {
      guard let piece = try image?.read(from: first, count: Self.piece) else { return }
      (bytes, start) = (piece, first)
    } catch {
      failure = failure ?? error
    }
  }
}

extension PageImage {
  /// Calls `body` with the file and its log; the file is read in pieces. Throws if a piece cannot be read, also
  /// after `body` has returned. No other process may write until then.
  static func inPieces<R>(
    of path: String, on disk: Disk, log: LogImage? = nil, _ body: (PageImage) -> R
  ) throws(QueueError) -> R {
    let (known, size) = try QueueError.wrapFile(path) { () throws(FileError) in
      // The log first: another process that closes its connection at this moment moves the log into the file.
      let known = if let log { log } else { try LogImage(of: path, on: disk) }
      return (known, try disk.size(of: path))
    }
    return try QueueError.wrap(path) { () throws(SQLiteError) in
      // SQLite takes a file of one byte for an empty one.
      let file = size > 1 ? try PageFile(of: path, on: disk) : PageFile([])
      let result = body(PageImage(file, log: known))
      if let failure = file.failure { throw failure }
      return result
    }
  }
}

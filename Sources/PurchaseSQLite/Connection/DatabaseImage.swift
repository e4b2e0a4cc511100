import CPurchaseSQLite

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The raw bytes of a database file, read by SQLite's own file layer.
///
/// Never read a database with a file descriptor of your own. Closing it drops all POSIX locks of this process on the
/// file, also those of its other connections (<https://sqlite.org/howtocorrupt.html>, 2.2). The next process that closes
/// the database then believes that it is the last one and removes the log. SQLite's own layer keeps a descriptor until
/// those locks are released.
///
/// Belongs to one thread at a time. Changes nothing on disk.
@safe package struct DatabaseImage: ~Copyable {
  private let connection: Connection
  private let path: String
  private let file: UnsafeMutablePointer<sqlite3_file>
  private let methods: sqlite3_io_methods

  /// Opens an existing file, whatever it contains.
  package init(path: String, on disk: Disk = .system) throws(SQLiteError) {
    // Immutable: the connection neither reads nor creates a log or an index.
    let connection = try Connection(path: path, on: disk, access: .immutable)
    var file: UnsafeMutablePointer<sqlite3_file>?
    try unsafe SQLiteError.check(
      sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_FILE_POINTER, &file), connection.handle)
    guard let file = unsafe file, let methods = unsafe file.pointee.pMethods else {
      throw SQLiteError(code: .cannotOpen, message: "there is no file behind \(path)")
    }
    self.connection = connection
    self.path = path
    unsafe self.file = file
    unsafe self.methods = methods.pointee
  }

  /// The size in bytes.
  package var size: Int {
    get throws(SQLiteError) {
      var size: sqlite3_int64 = 0
      try check(unsafe methods.xFileSize?(file, &size), "size of")
      return Int(size)
    }
  }

  /// At most `count` bytes, and 1 GiB; fewer at the end of the file.
  package func read(from offset: Int, count: Int) throws(SQLiteError) -> [UInt8] {
    let wanted = max(0, min(count, try size - offset, 1 << 30))
    guard wanted > 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: wanted)
    let result = unsafe bytes.withUnsafeMutableBytes {
      unsafe methods.xRead?(file, $0.baseAddress, Int32($0.count), sqlite3_int64(offset))
    }
    // A file that was truncated since reads as zeros, like every hole.
    if result == Self.shortRead { return bytes }
    try check(result, "read")
    return bytes
  }

  // SQLITE_IOERR_SHORT_READ is a macro that is not imported.
  private static var shortRead: Int32 { SQLITE_IOERR | 2 << 8 }

  /// Until `unlock`, no other connection can close as the last one, which empties and removes the log, and none can begin
  /// a rollback journal. False if a connection is doing that now.
  package func lockShared() throws(SQLiteError) -> Bool {
    let result = unsafe methods.xLock?(file, SQLITE_LOCK_SHARED)
    if let result, ResultCode(rawValue: result).primary == .busy { return false }
    try check(result, "lock")
    return true
  }

  package func unlock() {
    // A failure has no effect: the lock ends with this value in any case.
    unsafe _ = methods.xUnlock?(file, SQLITE_LOCK_NONE)
  }

  private func check(_ result: Int32?, _ operation: String) throws(SQLiteError) {
    guard let result, result != SQLITE_OK else { return }
    throw SQLiteError(
      code: ResultCode(rawValue: result),
      message: unsafe "\(operation) \(path): \(String(cString: sqlite3_errstr(result)))")
  }

  /// At most `count` bytes of a file that may be a database, even one that this process has open.
  package static func read(
    _ path: String, on disk: Disk = .system, from offset: Int = 0, count: Int = 1 << 30
  ) throws(FileError) -> [UInt8] {
    try disk.checkReadable(path)
    // SQLite treats a file of one byte as empty. No process has locks on a file without a page.
    guard try disk.size(of: path) > 1 else {
      return try disk.read(path, from: offset, count: count)
    }
    do throws(SQLiteError) {
      return try DatabaseImage(path: path, on: disk).read(from: offset, count: count)
    } catch {
      throw FileError(operation: "read", path: path, errno: EIO, reason: error.description)
    }
  }
}

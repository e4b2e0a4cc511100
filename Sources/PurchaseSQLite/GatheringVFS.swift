import CPurchaseSQLite

/// A layer over the system's VFS (<https://sqlite.org/vfs.html>) that gathers what SQLite writes into the log: one
/// write per commit.
///
/// SQLite writes a commit's pages one by one, each with a header of its own: forty system calls for a proof of 8 KB,
/// a quarter of the time of an enqueue. The gathered bytes are written before every sync, and with
/// `synchronous=FULL` a commit ends with one, so what has returned is as durable as without this layer. An error of
/// the gathered write is the error of that sync: the commit fails, and SQLite undoes it. Nobody else reads what is
/// still gathered: pages of a log count from the end of their commit (<https://sqlite.org/walformat.html>). Nothing
/// is gathered beyond the write lock: somebody else may write there then. Every other file is the system's own.
enum GatheringVFS {
  private static let name: StaticString = "purchase-gathering"

  // Found once: an app that changes SQLite's default later does not change what is below this layer.
  private nonisolated(unsafe) static let base = unsafe sqlite3_vfs_find(nil)

  /// Registered once in a process; nil if the system's VFS could not be found, and then SQLite's default is used.
  static let registered: String? = {
    // Another copy of this library in the same process was first: its layer does the same.
    if unsafe sqlite3_vfs_find("\(name)") != nil { return "\(name)" }
    guard let base = unsafe base else { return nil }
    let layer = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    // All but opening is the system's, called with its own application data.
    unsafe layer.initialize(to: base.pointee)
    unsafe layer.pointee.zName = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
    unsafe layer.pointee.pNext = nil
    unsafe layer.pointee.szOsFile = Int32(GatheringFile.headerSize) + base.pointee.szOsFile
    unsafe layer.pointee.xOpen = { _, path, file, flags, outFlags in
      guard let base = unsafe GatheringVFS.base, let file = unsafe file else { return SQLITE_CANTOPEN }
      guard flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_DB) != 0 else {
        return unsafe base.pointee.xOpen(base, path, file, flags, outFlags)
      }
      return unsafe GatheringFile.open(base, path, file, flags, outFlags)
    }
    return unsafe sqlite3_vfs_register(layer, 0) == SQLITE_OK ? "\(name)" : nil
  }()
}

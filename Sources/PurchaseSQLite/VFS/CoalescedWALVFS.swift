import CPurchaseSQLite

/// A layer over the system's VFS (<https://sqlite.org/vfs.html>) that coalesces SQLite's writes to the log: one write for
/// each commit.
///
/// SQLite writes the pages of a commit one by one, each with its own header: forty system calls for a payload of 8 KB, a
/// quarter of the time of an enqueue. This layer writes the pending bytes before every sync. With `synchronous=FULL` a
/// commit ends with a sync, so a commit that has returned is as durable as without this layer, unless it is promised only
/// soon (``LogSyncs``). An error of the coalesced
/// write is the error of that sync: the commit fails, and SQLite rolls it back. No other connection needs the pending
/// bytes: the pages of a log count from the end of their commit (<https://sqlite.org/walformat.html>). No bytes are
/// pending after the write lock is released, because another connection may write there then. All other files are
/// passed to the system's VFS.
enum CoalescedWALVFS {
  private static let name: StaticString = "purchase-coalesced-wal"

  // Found once: if an app changes SQLite's default VFS later, this layer keeps its base.
  private nonisolated(unsafe) static let base = unsafe sqlite3_vfs_find(nil)

  /// The name of the layer, which is registered once in a process. Nil if SQLite has no default VFS.
  static let registered: String? = {
    // Another copy of this library in the process has registered its layer, which does the same.
    if unsafe sqlite3_vfs_find("\(name)") != nil { return "\(name)" }
    guard let base = unsafe base else { return nil }
    let layer = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    // All functions but xOpen are those of the base, with its application data.
    unsafe layer.initialize(to: base.pointee)
    unsafe layer.pointee.zName = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
    unsafe layer.pointee.pNext = nil
    unsafe layer.pointee.szOsFile = Int32(CoalescedWALFile.headerSize) + base.pointee.szOsFile
    unsafe layer.pointee.xOpen = { _, path, file, flags, outFlags in
      guard let base = unsafe CoalescedWALVFS.base, let file = unsafe file else { return SQLITE_CANTOPEN }
      guard flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_DB) != 0 else {
        return unsafe base.pointee.xOpen(base, path, file, flags, outFlags)
      }
      return unsafe CoalescedWALFile.open(base, path, file, flags, outFlags)
    }
    return unsafe sqlite3_vfs_register(layer, 0) == SQLITE_OK ? "\(name)" : nil
  }()
}

import CPurchaseSQLite
import PurchaseQueue
import PurchaseSQLite

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// SQLite's VFS (<https://sqlite.org/vfs.html>) on disks in memory: nothing in it comes from outside, so that two
/// runs with one seed are the same to the byte.
///
/// It is the default of a process of its own, because SQLite takes randomness from the default VFS whatever a
/// connection uses, and because our layer that gathers what goes into the log has the default one below it.
@safe package enum FaultVFS {
  /// Where this thread opens files. Files that are open stay on the disk on which they were opened.
  package static var disk: FaultDisk { FaultThread.current.disk }
  package private(set) nonisolated(unsafe) static var isInstalled = false

  // SQLITE_IOERR_… and their like are macros that are not imported.
  static let shortRead = SQLITE_IOERR | 2 << 8
  private static let deleteMissing = SQLITE_IOERR | 23 << 8
  /// As SQLite's own VFS answers EIO: SQLITE_IOERR_CORRUPTFS.
  static let readFailed = SQLITE_IOERR | 33 << 8
  static let writeFailed = SQLITE_IOERR | 3 << 8
  static let syncFailed = SQLITE_IOERR | 4 << 8
  static let truncateFailed = SQLITE_IOERR | 6 << 8
  static let sizeFailed = SQLITE_IOERR | 7 << 8
  static let lockFailed = SQLITE_IOERR | 15 << 8
  private static let deleteFailed = SQLITE_IOERR | 10 << 8
  private static let accessFailed = SQLITE_IOERR | 13 << 8
  static let sharedMemoryFailed = SQLITE_IOERR | 19 << 8

  /// Makes disks in memory the only ones that SQLite sees in this process. Call it before the first connection is
  /// opened, and open queues with `Disk.inMemory`. False if SQLite refuses.
  package static func install() -> Bool {
    guard unsafe !isInstalled else { return true }
    // Counting SQLite's memory takes a lock at every allocation, and these counts are not used.
    purchase_sqlite3_config_flag(SQLITE_CONFIG_MEMSTATUS, 0)
    keepFreedMemory()
    let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    unsafe vfs.initialize(to: sqlite3_vfs())
    unsafe vfs.pointee.iVersion = 2
    unsafe vfs.pointee.szOsFile = Int32(MemoryLayout<FaultFile>.size)
    unsafe vfs.pointee.mxPathname = 1024
    unsafe vfs.pointee.zName = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
    unsafe fill(vfs)
    unsafe isInstalled = unsafe sqlite3_vfs_register(vfs, 1) == SQLITE_OK
    return unsafe isInstalled
  }

  /// Connections come and go by the thousand: memory that glibc gives back to the system at each close comes back as
  /// pages that have to be cleared first. Elsewhere than with glibc nothing happens.
  private static func keepFreedMemory() {
    guard let symbol = unsafe dlsym(dlopen(nil, RTLD_NOW), "mallopt") else { return }
    typealias SetOption = @convention(c) (CInt, CInt) -> CInt
    let mallopt = unsafe unsafeBitCast(symbol, to: SetOption.self)
    // M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h, which Swift does not import.
    _ = mallopt(-1, 1 << 29)
    _ = mallopt(-3, 1 << 29)
  }

  private static let name: StaticString = "purchase-fault"

  /// Begins a run on this thread: a disk, and all of SQLite's random numbers from the seed, if no other thread uses it.
  package static func begin(on disk: FaultDisk, seed: UInt64) {
    let thread = FaultThread.current
    thread.disk = disk
    thread.random = RandomSource(seed: seed)
    // SQLite's generator is filled again from ours at its next use.
    sqlite3_randomness(0, nil)
  }

  private static func fill(_ vfs: UnsafeMutablePointer<sqlite3_vfs>) {
    unsafe vfs.pointee.xOpen = { _, path, file, flags, outFlags in
      unsafe FaultVFS.open(path, file, flags, outFlags)
    }
    unsafe vfs.pointee.xDelete = { _, path, isSyncing in unsafe FaultVFS.delete(path, isSyncing) }
    unsafe vfs.pointee.xAccess = { _, path, _, result in unsafe FaultVFS.access(path, result) }
    unsafe vfs.pointee.xFullPathname = { _, path, room, into in
      guard let path = unsafe path, let into = unsafe into, unsafe strlen(path) < Int(room) else {
        return SQLITE_CANTOPEN
      }
      unsafe _ = strcpy(into, path)
      return SQLITE_OK
    }
    unsafe vfs.pointee.xRandomness = { _, count, into in
      guard let into = unsafe into else { return 0 }
      let thread = FaultThread.current
      for index in 0..<Int(count) {
        unsafe into[index] = CChar(truncatingIfNeeded: thread.random.next())
      }
      return count
    }
    unsafe vfs.pointee.xSleep = { _, microseconds in microseconds }
    // Noon of 2026-01-01, as a Julian day.
    unsafe vfs.pointee.xCurrentTime = { _, result in
      unsafe result?.pointee = 2_461_042
      return SQLITE_OK
    }
    unsafe vfs.pointee.xCurrentTimeInt64 = { _, result in
      unsafe result?.pointee = 2_461_042 * 86_400_000
      return SQLITE_OK
    }
    unsafe vfs.pointee.xGetLastError = { _, _, _ in 0 }
  }

  // MARK: Names

  private static func open(
    _ path: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
    _ outFlags: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let file = unsafe file else { return SQLITE_MISUSE }
    unsafe file.pointee.pMethods = nil
    let disk = self.disk
    let name = unsafe path.map { unsafe String(cString: $0) }
    let known = name.flatMap { disk.image.names[$0] }
    let isMaking = known == nil
    if disk.nextFault(takesSpace: isMaking && flags & SQLITE_OPEN_CREATE != 0) != nil {
      return SQLITE_CANTOPEN
    }
    if let name, isMaking {
      guard flags & SQLITE_OPEN_CREATE != 0, !disk.image.directories.contains(name) else {
        return SQLITE_CANTOPEN
      }
    }
    let number = known ?? name.map { disk.makeFile($0) } ?? disk.makeScratchFile()
    let open = OpenFile(disk: disk, number: number, path: name)
    let journals = SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL
    // As the system's own VFS does: the first sync of a new log or journal makes its name durable too.
    open.owesDirectorySync = flags & SQLITE_OPEN_CREATE != 0 && flags & journals != 0
    open.isRemovedOnClose = flags & SQLITE_OPEN_DELETEONCLOSE != 0
    unsafe FaultFile.initialize(file, with: open)
    unsafe outFlags?.pointee = flags
    return SQLITE_OK
  }

  private static func delete(_ path: UnsafePointer<CChar>?, _ isSyncing: Int32) -> Int32 {
    guard let path = unsafe path else { return SQLITE_MISUSE }
    let disk = self.disk
    let name = unsafe String(cString: path)
    if disk.nextFault() != nil { return deleteFailed }
    guard disk.image.names[name] != nil else { return deleteMissing }
    disk.perform(.unlink(path: name))
    guard isSyncing != 0 else { return SQLITE_OK }
    if disk.nextFault() != nil { return syncFailed }
    disk.perform(.syncDirectory(DiskImage.directory(of: name)))
    return SQLITE_OK
  }

  /// As the system's own VFS: an empty file counts as absent.
  private static func access(_ path: UnsafePointer<CChar>?, _ result: UnsafeMutablePointer<Int32>?) -> Int32 {
    guard let path = unsafe path else { return SQLITE_MISUSE }
    let disk = self.disk
    if disk.nextFault() != nil { return accessFailed }
    let name = unsafe String(cString: path)
    let isThere = (disk.image[name]?.size ?? 0) > 0 || disk.image.directories.contains(name)
    unsafe result?.pointee = isThere ? 1 : 0
    return SQLITE_OK
  }
}

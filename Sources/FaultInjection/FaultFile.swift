import CPurchaseSQLite

/// A file that SQLite has open: what stands in the memory that it gives for it.
@safe struct FaultFile {
  /// First, as SQLite demands.
  private var methods: UnsafePointer<sqlite3_io_methods>?
  private var file: Unmanaged<OpenFile>

  static func initialize(_ file: UnsafeMutablePointer<sqlite3_file>, with open: OpenFile) {
    let state = unsafe UnsafeMutableRawPointer(file).assumingMemoryBound(to: FaultFile.self)
    let kept = unsafe Unmanaged.passRetained(open)
    unsafe state.initialize(to: FaultFile(methods: table, file: kept))
  }

  // Written once, read by SQLite ever after.
  private nonisolated(unsafe) static let table: UnsafePointer<sqlite3_io_methods> = {
    let table = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    unsafe table.initialize(to: sqlite3_io_methods())
    // Version 2: shared memory, but no mapped files.
    unsafe table.pointee.iVersion = 2
    unsafe table.pointee.xClose = { file in
      guard let file = unsafe file else { return SQLITE_MISUSE }
      let state = unsafe UnsafeMutableRawPointer(file).assumingMemoryBound(to: FaultFile.self)
      let kept = unsafe state.pointee.file
      unsafe kept.takeUnretainedValue().close()
      unsafe kept.release()
      return SQLITE_OK
    }
    unsafe table.pointee.xRead = { file, into, amount, offset in
      unsafe open(file).read(UnsafeMutableRawBufferPointer(start: into, count: Int(amount)), at: Int(offset))
    }
    unsafe table.pointee.xWrite = { file, from, amount, offset in
      unsafe open(file).write(UnsafeRawBufferPointer(start: from, count: Int(amount)), at: Int(offset))
    }
    unsafe table.pointee.xTruncate = { file, size in unsafe open(file).truncate(to: Int(size)) }
    unsafe table.pointee.xSync = { file, _ in unsafe open(file).sync() }
    unsafe table.pointee.xFileSize = { file, size in
      guard let found = unsafe open(file).size() else { return FaultVFS.sizeFailed }
      unsafe size?.pointee = sqlite3_int64(found)
      return SQLITE_OK
    }
    unsafe table.pointee.xLock = { file, level in unsafe open(file).lock(level) }
    unsafe table.pointee.xUnlock = { file, level in unsafe open(file).unlock(to: level) }
    unsafe table.pointee.xCheckReservedLock = { file, result in
      unsafe result?.pointee = unsafe open(file).node.isReserved() ? 1 : 0
      return SQLITE_OK
    }
    unsafe table.pointee.xFileControl = { file, operation, argument in
      guard operation == SQLITE_FCNTL_HAS_MOVED else { return SQLITE_NOTFOUND }
      unsafe argument?.storeBytes(of: open(file).hasMoved ? 1 : 0, as: Int32.self)
      return SQLITE_OK
    }
    unsafe table.pointee.xSectorSize = { _ in 4096 }
    // Bytes next to those that are written stay what they are, also when the power fails.
    unsafe table.pointee.xDeviceCharacteristics = { _ in SQLITE_IOCAP_POWERSAFE_OVERWRITE }
    unsafe table.pointee.xShmMap = { file, page, size, isExtending, memory in
      unsafe open(file).mapShared(Int(page), size: Int(size), isExtending: isExtending != 0, memory)
    }
    unsafe table.pointee.xShmLock = { file, offset, count, flags in
      unsafe open(file).lockShared(Int(offset)..<Int(offset + count), flags)
    }
    unsafe table.pointee.xShmBarrier = { _ in }
    unsafe table.pointee.xShmUnmap = { file, _ in
      unsafe open(file).unmapShared()
      return SQLITE_OK
    }
    return unsafe UnsafePointer(table)
  }()

  private static func open(_ file: UnsafeMutablePointer<sqlite3_file>?) -> OpenFile {
    guard let file = unsafe file else { preconditionFailure("SQLite calls a method of no file") }
    let state = unsafe UnsafeMutableRawPointer(file).assumingMemoryBound(to: FaultFile.self)
    return unsafe state.pointee.file.takeUnretainedValue()
  }
}

/// A file that is open, on the disk on which it was opened.
@safe final class OpenFile {
  private let disk: FaultDisk
  private let number: Int
  /// Nil for one without a name, which goes with this object.
  private let path: String?
  let node: FileNode
  var owesDirectorySync = false
  /// Whether the last write was at the beginning.
  private var hasHeader = false
  var isRemovedOnClose = false

  init(disk: FaultDisk, number: Int, path: String?) {
    self.disk = disk
    self.number = number
    self.path = path
    node = disk.node(number)
  }

  private var id: ObjectIdentifier { ObjectIdentifier(self) }
  private var isScratch: Bool { path == nil }

  func close() {
    node.unlock(id, to: SQLITE_LOCK_NONE)
    unmapShared()
    if isScratch { disk.removeScratchFile(number) }
    if isRemovedOnClose, let path { disk.perform(.unlink(path: path)) }
  }

  func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int32 {
    if disk.nextFault() != nil { return FaultVFS.readFailed }
    let content = disk.image.files[number] ?? FileContent()
    return unsafe content.read(into: buffer, at: offset) == buffer.count ? SQLITE_OK : FaultVFS.shortRead
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int32 {
    hasHeader = offset == 0
    if let fault = disk.nextFault(takesSpace: true) {
      unsafe disk.writeHalf(bytes, to: number, at: offset, isScratch: isScratch)
      return fault == .full ? SQLITE_FULL : FaultVFS.writeFailed
    }
    unsafe disk.write(bytes, to: number, at: offset, isScratch: isScratch)
    return SQLITE_OK
  }

  func truncate(to size: Int) -> Int32 {
    if disk.nextFault() != nil { return FaultVFS.truncateFailed }
    disk.resize(number, to: size, isScratch: isScratch)
    return SQLITE_OK
  }

  func sync() -> Int32 {
    if disk.nextFault() != nil { return FaultVFS.syncFailed }
    guard let path else { return SQLITE_OK }
    switch disk.leavesOut {
    case .none: break
    case .all: return SQLITE_OK
    case .ofHeaders: if hasHeader, path.hasSuffix("-wal") { return SQLITE_OK }
    }
    disk.perform(.sync(file: number))
    guard owesDirectorySync else { return SQLITE_OK }
    if disk.nextFault() != nil { return FaultVFS.syncFailed }
    disk.perform(.syncDirectory(DiskImage.directory(of: path)))
    owesDirectorySync = false
    return SQLITE_OK
  }

  func size() -> Int? {
    disk.nextFault() == nil ? disk.image.files[number]?.size ?? 0 : nil
  }

  /// True if the name now belongs to another file or to none.
  var hasMoved: Bool { path.map { disk.image.names[$0] != number } ?? false }

  // MARK: Locks

  func lock(_ level: Int32) -> Int32 {
    if disk.nextFault() != nil { return FaultVFS.lockFailed }
    return node.lock(id, level) ? SQLITE_OK : SQLITE_BUSY
  }

  func unlock(to level: Int32) -> Int32 {
    node.unlock(id, to: level)
    return SQLITE_OK
  }

  func mapShared(
    _ region: Int, size: Int, isExtending: Bool, _ memory: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
  ) -> Int32 {
    if disk.nextFault(takesSpace: isExtending) != nil { return FaultVFS.sharedMemoryFailed }
    let shared = node.sharedMemory ?? SharedMemory()
    node.sharedMemory = shared
    shared.join(id)
    unsafe memory?.pointee = unsafe shared.region(region, size: size, isExtending: isExtending)
    return SQLITE_OK
  }

  func lockShared(_ slots: Range<Int>, _ flags: Int32) -> Int32 {
    guard let shared = node.sharedMemory else { return FaultVFS.sharedMemoryFailed }
    if flags & SQLITE_SHM_UNLOCK != 0 {
      shared.unlock(id, slots)
      return SQLITE_OK
    }
    let isExclusive = flags & SQLITE_SHM_EXCLUSIVE != 0
    return shared.lock(id, slots, isExclusive: isExclusive) ? SQLITE_OK : SQLITE_BUSY
  }

  func unmapShared() { node.sharedMemory?.leave(id) }
}

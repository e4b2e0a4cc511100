import CPurchaseSQLite

/// An open log or database: the state for SQLite, the pending bytes of a log, and behind them in memory the file of the
/// system's VFS.
///
/// Only writes to a log are coalesced. Writes to a database must not wait: a checkpoint that a reader stops half-way
/// ends without a sync. From then on, every other connection reads those pages from the database, and the next
/// checkpoint continues after them.
@safe struct CoalescedWALFile {
  /// The first field, as SQLite demands.
  private var methods: UnsafePointer<sqlite3_io_methods>?
  private var buffer: UnsafeMutableRawPointer?
  /// The offset of the pending bytes in the file.
  private var start: Int64 = 0
  private var count = 0
  /// True for a log, false for a database.
  private var isLog = false
  /// For a database: its log while that is open. For a log: its database.
  private var partner: UnsafeMutablePointer<sqlite3_file>?
  /// The size of the log; nil until it is known.
  private var size: Int64?
  /// How often pending bytes were written since the log was opened.
  private var flushes = 0
  /// Which syncs of the log are made.
  private var syncs = LogSyncs()

  /// A longer commit is written in parts.
  private static let capacity = 256 << 10
  private static let firstCapacity = 64 << 10
  private var allocated = 0

  static let headerSize = (MemoryLayout<CoalescedWALFile>.size + 15) / 16 * 16

  // Written once; afterwards SQLite only reads it.
  private nonisolated(unsafe) static let table: UnsafePointer<sqlite3_io_methods> = {
    let table = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    unsafe table.initialize(to: sqlite3_io_methods())
    // Version 2: with shared memory, without mapped files.
    unsafe table.pointee.iVersion = 2
    unsafe table.pointee.xClose = { file in unsafe CoalescedWALFile.close(file) }
    unsafe table.pointee.xRead = { file, into, amount, offset in
      unsafe CoalescedWALFile.read(file, into, amount, offset)
    }
    unsafe table.pointee.xWrite = { file, from, amount, offset in
      unsafe CoalescedWALFile.write(file, from, amount, offset)
    }
    unsafe table.pointee.xTruncate = { file, size in
      unsafe CoalescedWALFile.truncate(file, to: size)
    }
    unsafe table.pointee.xSync = { file, flags in unsafe CoalescedWALFile.sync(file, flags) }
    unsafe table.pointee.xFileSize = { file, size in
      unsafe afterFlush(file) { unsafe $0.pointee.pMethods.pointee.xFileSize($0, size) }
    }
    unsafe table.pointee.xLock = { file, level in
      unsafe passOn(file) { unsafe $0.pointee.pMethods.pointee.xLock($0, level) }
    }
    unsafe table.pointee.xUnlock = { file, level in
      unsafe afterFlush(file, isEnding: true) { unsafe $0.pointee.pMethods.pointee.xUnlock($0, level) }
    }
    unsafe table.pointee.xCheckReservedLock = { file, result in
      unsafe passOn(file) { unsafe $0.pointee.pMethods.pointee.xCheckReservedLock($0, result) }
    }
    unsafe table.pointee.xFileControl = { file, operation, argument in
      if let request = LogSyncs.Request(rawValue: operation) {
        return unsafe answer(request, argument, file)
      }
      return unsafe passOn(file) {
        unsafe $0.pointee.pMethods.pointee.xFileControl($0, operation, argument)
      }
    }
    unsafe table.pointee.xSectorSize = { file in
      unsafe passOn(file) { unsafe $0.pointee.pMethods.pointee.xSectorSize($0) }
    }
    unsafe table.pointee.xDeviceCharacteristics = { file in
      unsafe passOn(file) { unsafe $0.pointee.pMethods.pointee.xDeviceCharacteristics($0) }
    }
    unsafe table.pointee.xShmMap = { file, page, size, isExtending, memory in
      unsafe passOn(file) { unsafe $0.pointee.pMethods.pointee.xShmMap($0, page, size, isExtending, memory) }
    }
    unsafe table.pointee.xShmLock = { file, offset, count, flags in
      unsafe flushBeforeUnlocking(file, offset, flags)
      return unsafe passOn(file) { unsafe $0.pointee.pMethods.pointee.xShmLock($0, offset, count, flags) }
    }
    unsafe table.pointee.xShmBarrier = { file in
      unsafe _ = passOn(file) {
        unsafe $0.pointee.pMethods.pointee.xShmBarrier($0)
        return SQLITE_OK
      }
    }
    unsafe table.pointee.xShmUnmap = { file, isDeleting in
      unsafe passOn(file) { unsafe $0.pointee.pMethods.pointee.xShmUnmap($0, isDeleting) }
    }
    return unsafe UnsafePointer(table)
  }()

  /// Calls the method of the system's file.
  private static func passOn(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ call: (UnsafeMutablePointer<sqlite3_file>) -> Int32
  ) -> Int32 {
    guard let file = unsafe file else { return SQLITE_MISUSE }
    return unsafe call(base(of: file))
  }

  static func open(
    _ vfs: UnsafeMutablePointer<sqlite3_vfs>, _ path: UnsafePointer<CChar>?,
    _ file: UnsafeMutablePointer<sqlite3_file>, _ flags: Int32, _ outFlags: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    let state = unsafe state(of: file)
    unsafe state.initialize(to: CoalescedWALFile())
    unsafe state.pointee.isLog = flags & SQLITE_OPEN_WAL != 0
    let result = unsafe vfs.pointee.xOpen(vfs, path, base(of: file), flags, outFlags)
    // "SQLite will invoke xClose … if xOpen sets pMethods, even if xOpen failed."
    guard result == SQLITE_OK else { return result }
    unsafe state.pointee.methods = unsafe table
    if unsafe state.pointee.isLog, let path = unsafe path,
      let database = unsafe sqlite3_database_file_object(path), unsafe database.pointee.pMethods == table
    {
      unsafe state.pointee.partner = database
      unsafe CoalescedWALFile.state(of: database).pointee.partner = file
    }
    return result
  }

  private static func close(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Int32 {
    guard let file = unsafe file else { return SQLITE_MISUSE }
    if unsafe state(of: file).pointee.isLog, let database = unsafe state(of: file).pointee.partner {
      unsafe state(of: database).pointee.partner = nil
    }
    let flushed = unsafe flush(file, isEnding: true)
    let closed = unsafe base(of: file).pointee.pMethods.pointee.xClose(base(of: file))
    unsafe sqlite3_free(state(of: file).pointee.buffer)
    unsafe state(of: file).pointee.buffer = nil
    return flushed == SQLITE_OK ? closed : flushed
  }

  private static func read(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ into: UnsafeMutableRawPointer?, _ amount: Int32,
    _ offset: Int64
  ) -> Int32 {
    guard let file = unsafe file else { return SQLITE_MISUSE }
    let state = unsafe state(of: file)
    let end = unsafe state.pointee.start + Int64(state.pointee.count)
    if unsafe state.pointee.count > 0, offset < end, unsafe offset + Int64(amount) > state.pointee.start {
      let flushed = unsafe flush(file, isEnding: false)
      guard flushed == SQLITE_OK else { return flushed }
    }
    let result = unsafe base(of: file).pointee.pMethods.pointee.xRead(base(of: file), into, amount, offset)
    return result == corruptFileSystem ? readFailed : result
  }

  // SQLITE_IOERR_… are macros that are not imported.
  private static let readFailed = SQLITE_IOERR | 1 << 8
  /// What SQLite's VFS makes of EIO. A statement reports it as damage (SQLITE_CORRUPT), and a disk may only have failed
  /// for a moment.
  private static let corruptFileSystem = SQLITE_IOERR | 33 << 8

  private static func write(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ from: UnsafeRawPointer?, _ amount: Int32, _ offset: Int64
  ) -> Int32 {
    guard let file = unsafe file, let from = unsafe from else { return SQLITE_MISUSE }
    let state = unsafe state(of: file)
    guard unsafe state.pointee.isLog else {
      return unsafe base(of: file).pointee.pMethods.pointee.xWrite(base(of: file), from, amount, offset)
    }
    let follows = unsafe offset == state.pointee.start + Int64(state.pointee.count)
    if unsafe state.pointee.count > 0, unsafe !follows || state.pointee.count + Int(amount) > capacity {
      let flushed = unsafe flush(file, isEnding: true)
      guard flushed == SQLITE_OK else { return flushed }
    }
    guard unsafe grow(state, to: state.pointee.count + Int(amount)), let buffer = unsafe state.pointee.buffer
    else {
      // No memory for pending bytes: write at once, after the bytes that are pending.
      let flushed = unsafe flush(file, isEnding: true)
      guard flushed == SQLITE_OK else { return flushed }
      unsafe state.pointee.syncs.wrote(UnsafeRawBufferPointer(start: from, count: Int(amount)), at: offset)
      return unsafe base(of: file).pointee.pMethods.pointee.xWrite(base(of: file), from, amount, offset)
    }
    unsafe state.pointee.syncs.wrote(UnsafeRawBufferPointer(start: from, count: Int(amount)), at: offset)
    if unsafe state.pointee.count == 0 { unsafe state.pointee.start = offset }
    unsafe buffer.advanced(by: state.pointee.count).copyMemory(from: from, byteCount: Int(amount))
    unsafe state.pointee.count += Int(amount)
    return SQLITE_OK
  }

  /// The last sync of a commit that is promised soon only writes the pending bytes.
  private static func sync(_ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32) -> Int32 {
    guard let file = unsafe file else { return SQLITE_MISUSE }
    let state = unsafe state(of: file)
    let isDeferred = unsafe state.pointee.isLog && state.pointee.syncs.defers()
    let result = unsafe afterFlush(file, isEnding: true) { base in
      isDeferred ? SQLITE_OK : unsafe base.pointee.pMethods.pointee.xSync(base, flags)
    }
    if result != SQLITE_OK {
      unsafe state.pointee.syncs.dropCommit()
    } else if isDeferred {
      unsafe state.pointee.syncs.deferred()
    } else {
      unsafe state.pointee.syncs.synced { unsafe salts(of: base(of: file)) }
    }
    return result
  }

  /// Those in the header of a log; 0 if they cannot be read.
  private static func salts(of base: UnsafeMutablePointer<sqlite3_file>) -> UInt64 {
    unsafe withUnsafeTemporaryAllocation(byteCount: 24, alignment: 8) { bytes in
      let result = unsafe base.pointee.pMethods.pointee.xRead(base, bytes.baseAddress, 24, 0)
      return result == SQLITE_OK ? unsafe LogNote.salts(inHeader: UnsafeRawBufferPointer(bytes)) : 0
    }
  }

  /// What a connection asks of its database is about the log. A log that is not open has nothing to sync.
  private static func answer(
    _ request: LogSyncs.Request, _ argument: UnsafeMutableRawPointer?,
    _ database: UnsafeMutablePointer<sqlite3_file>?
  ) -> Int32 {
    guard let database = unsafe database, let log = unsafe state(of: database).pointee.partner else {
      return SQLITE_OK
    }
    let state = unsafe state(of: log)
    switch request {
    case .deferNext: unsafe state.pointee.syncs.mayDefer = true
    case .deferNone: unsafe state.pointee.syncs.mayDefer = false
    case .durable: unsafe argument?.storeBytes(of: state.pointee.syncs.durable, as: LogNote.self)
    case .hasDeferred:
      unsafe argument?.storeBytes(of: state.pointee.syncs.hasDeferred ? 1 : 0, as: Int32.self)
    case .syncDeferred:
      guard unsafe state.pointee.syncs.hasDeferred else { return SQLITE_OK }
      // As SQLite asks for a log of FULL, and on Apple systems of `fullfsync`.
      return unsafe sync(log, LogSyncs.flags)
    }
    return SQLITE_OK
  }

  /// A transaction can write pages that do not fit into the cache and then be rolled back. These bytes must not wait
  /// until another connection uses their place in the log, so they are written before the write lock is released, as
  /// they would be without this layer. A failure loses nothing: everything committed was synced.
  private static func flushBeforeUnlocking(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ offset: Int32, _ flags: Int32
  ) {
    // WAL_WRITE_LOCK (https://sqlite.org/walformat.html).
    guard offset == 0, flags == SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE, let file = unsafe file,
      let log = unsafe state(of: file).pointee.partner
    else { return }
    unsafe _ = flush(log, isEnding: true)
    unsafe state(of: log).pointee.syncs.dropCommit()
  }

  private static func truncate(_ file: UnsafeMutablePointer<sqlite3_file>?, to size: Int64) -> Int32 {
    let result = unsafe afterFlush(file) { unsafe $0.pointee.pMethods.pointee.xTruncate($0, size) }
    if let file = unsafe file { unsafe state(of: file).pointee.size = nil }
    return result
  }

  private static func grow(_ state: UnsafeMutablePointer<CoalescedWALFile>, to size: Int) -> Bool {
    let allocated = unsafe state.pointee.allocated
    guard size > allocated else { return true }
    guard size <= capacity else { return false }
    let wanted = max(size, firstCapacity, min(allocated * 2, capacity))
    guard let grown = unsafe sqlite3_realloc64(state.pointee.buffer, UInt64(wanted)) else { return false }
    unsafe state.pointee.buffer = grown
    unsafe state.pointee.allocated = wanted
    return true
  }

  /// Writes the pending bytes.
  ///
  /// - Parameter isEnding: whether a failure drops the bytes. A failed write or sync fails the transaction of the bytes,
  ///   so they are dropped and cannot fail a later transaction. A failed read does not, so they are kept.
  private static func flush(
    _ file: UnsafeMutablePointer<sqlite3_file>, isEnding: Bool
  ) -> Int32 {
    let state = unsafe state(of: file)
    guard unsafe state.pointee.count > 0 else { return SQLITE_OK }
    let pending = unsafe UnsafeRawBufferPointer(start: state.pointee.buffer, count: state.pointee.count)
    let result = unsafe write(pending, at: state.pointee.start, to: base(of: file))
    unsafe state.pointee.flushes += 1
    if result == SQLITE_OK, unsafe state.pointee.flushes > quietFlushes {
      unsafe growAhead(file, to: state.pointee.start + Int64(state.pointee.count))
    }
    if result == SQLITE_OK || isEnding { unsafe state.pointee.count = 0 }
    return result
  }

  /// Writes zeros after the end of the log in one piece, in a long burst only: a usual session makes a few commits, and
  /// the zeros would be most of what it writes. In a file that grows with every commit, each sync takes twice as
  /// long, because the file system has to make its own metadata durable too. Zeros are no frame, so recovery stops
  /// before them (<https://sqlite.org/fileformat2.html#walformat>).
  private static func growAhead(_ file: UnsafeMutablePointer<sqlite3_file>, to end: Int64) {
    let (state, base) = unsafe (state(of: file), base(of: file))
    // Not after the header alone: until it is synced, the zeros could overwrite frames of the previous log, and recovery
    // would take the rest of that log for all of it.
    guard unsafe state.pointee.isLog, end > logHeaderSize else { return }
    if unsafe state.pointee.size == nil {
      var size: Int64 = 0
      guard unsafe base.pointee.pMethods.pointee.xFileSize(base, &size) == SQLITE_OK else { return }
      unsafe state.pointee.size = max(size - (size == end ? piece : 0), 0)
    }
    guard let size = unsafe state.pointee.size, end > size else { return }
    let target = (end + piece - 1) / piece * piece
    // On a full disk the log works without the zeros.
    let result = unsafe zeros.withUnsafeBytes {
      unsafe write(UnsafeRawBufferPointer(rebasing: $0[..<Int(target - end)]), at: end, to: base)
    }
    unsafe state.pointee.size = result == SQLITE_OK ? target : end
  }

  private static let logHeaderSize: Int64 = 32
  private static let piece: Int64 = 64 << 10
  /// A session that opens the queue, delivers a purchase and closes it makes about five.
  private static let quietFlushes = 16
  private static let zeros = [UInt8](repeating: 0, count: Int(piece))

  /// Writes in pieces: the system's VFS accepts at most 128 KiB in one call and reports a full disk otherwise.
  private static func write(
    _ bytes: UnsafeRawBufferPointer, at offset: Int64, to base: UnsafeMutablePointer<sqlite3_file>
  ) -> Int32 {
    var written = 0
    while written < bytes.count {
      let amount = min(bytes.count - written, longestWrite)
      let result = unsafe base.pointee.pMethods.pointee.xWrite(
        base, bytes.baseAddress?.advanced(by: written), Int32(amount), offset + Int64(written))
      guard result == SQLITE_OK else { return result }
      written += amount
    }
    return SQLITE_OK
  }

  private static let longestWrite = 64 << 10

  private static func afterFlush(
    _ file: UnsafeMutablePointer<sqlite3_file>?, isEnding: Bool = false,
    _ call: (UnsafeMutablePointer<sqlite3_file>) -> Int32
  ) -> Int32 {
    guard let file = unsafe file else { return SQLITE_MISUSE }
    let flushed = unsafe flush(file, isEnding: isEnding)
    return flushed == SQLITE_OK ? unsafe call(base(of: file)) : flushed
  }

  private static func state(
    of file: UnsafeMutablePointer<sqlite3_file>
  ) -> UnsafeMutablePointer<CoalescedWALFile> {
    unsafe UnsafeMutableRawPointer(file).assumingMemoryBound(to: CoalescedWALFile.self)
  }

  /// The file of the system's VFS, in the memory that SQLite allocated for both.
  private static func base(
    of file: UnsafeMutablePointer<sqlite3_file>
  ) -> UnsafeMutablePointer<sqlite3_file> {
    unsafe UnsafeMutableRawPointer(file).advanced(by: headerSize).assumingMemoryBound(to: sqlite3_file.self)
  }
}

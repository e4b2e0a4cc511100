package import PurchaseSQLite

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension Disk {
  /// The disk in memory that `FaultVFS` has for the calling thread. `FaultVFS.install` has to be called before.
  package static let inMemory = Disk(files: FaultFiles())
}

/// The file calls of `Disk` and `AdvisoryLock` on the disks of `FaultVFS`.
struct FaultFiles: FileSystem {
  struct Open {
    var disk: FaultDisk
    /// Nil for a directory.
    var file: Int?
    var written = 0
  }

  func open(_ path: String, _ purpose: OpenPurpose) throws(FileError) -> Int32 {
    let disk = FaultVFS.disk
    let known = disk.image.names[path]
    let isMaking = known == nil && [.replacing, .making, .locking, .updating].contains(purpose)
    try Self.check(disk, takesSpace: isMaking, "open", path)
    let file: Int?
    if disk.image.directories.contains(path) {
      guard purpose == .reading else { throw Self.error(EISDIR, "open", path) }
      file = nil
    } else if let known {
      guard purpose != .making else { throw Self.error(EEXIST, "open", path) }
      if purpose == .replacing, disk.image.files[known]?.size ?? 0 > 0 { disk.resize(known, to: 0) }
      file = known
    } else {
      guard isMaking else { throw Self.error(ENOENT, "open", path) }
      file = disk.makeFile(path)
    }
    return FaultThread.current.keep(Open(disk: disk, file: file))
  }

  func close(_ descriptor: Int32) {
    unlock(descriptor)
    FaultThread.current.open[descriptor] = nil
  }

  func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(FileError) {
    guard let open = FaultThread.current.open[descriptor], let file = open.file else {
      throw Self.error(EBADF, "write", path)
    }
    if let fault = open.disk.nextFault(takesSpace: true) {
      unsafe bytes.withUnsafeBytes { unsafe open.disk.writeHalf($0, to: file, at: open.written) }
      throw Self.error(fault == .full ? ENOSPC : EIO, "write", path)
    }
    unsafe bytes.withUnsafeBytes { unsafe open.disk.write($0, to: file, at: open.written) }
    FaultThread.current.open[descriptor]?.written += bytes.count
  }

  func write(
    _ bytes: [UInt8], to descriptor: Int32, at offset: Int, _ path: String
  ) throws(FileError) {
    guard let open = FaultThread.current.open[descriptor], let file = open.file else {
      throw Self.error(EBADF, "write", path)
    }
    if let fault = open.disk.nextFault(takesSpace: true) {
      unsafe bytes.withUnsafeBytes { unsafe open.disk.writeHalf($0, to: file, at: offset) }
      throw Self.error(fault == .full ? ENOSPC : EIO, "write", path)
    }
    unsafe bytes.withUnsafeBytes { unsafe open.disk.write($0, to: file, at: offset) }
  }

  func resize(_ descriptor: Int32, to size: Int, _ path: String) throws(FileError) {
    guard let open = FaultThread.current.open[descriptor], let file = open.file else {
      throw Self.error(EBADF, "ftruncate", path)
    }
    try Self.check(open.disk, takesSpace: size > open.disk.image.files[file]?.size ?? 0, "ftruncate", path)
    open.disk.resize(file, to: size)
  }

  func size(of descriptor: Int32, _ path: String) throws(FileError) -> Int {
    guard let open = FaultThread.current.open[descriptor], let file = open.file else {
      throw Self.error(EBADF, "fstat", path)
    }
    try Self.check(open.disk, "fstat", path)
    return open.disk.image.files[file]?.size ?? 0
  }

  func read(_ descriptor: Int32, from offset: Int, count: Int, _ path: String) throws(FileError) -> [UInt8] {
    guard let open = FaultThread.current.open[descriptor], let file = open.file else {
      throw Self.error(EISDIR, "read", path)
    }
    try Self.check(open.disk, "read", path)
    let content = open.disk.image.files[file] ?? FileContent()
    let wanted = max(0, min(count, content.size - offset))
    var bytes = [UInt8](repeating: 0, count: wanted)
    unsafe bytes.withUnsafeMutableBytes { unsafe _ = content.read(into: $0, at: offset) }
    return bytes
  }

  func sync(_ descriptor: Int32, _ path: String) throws(FileError) {
    guard let open = FaultThread.current.open[descriptor] else { throw Self.error(EBADF, "fsync", path) }
    try Self.check(open.disk, "fsync", path)
    open.disk.perform(open.file.map { .sync(file: $0) } ?? .syncDirectory(path))
  }

  func rename(_ path: String, to target: String) throws(FileError) {
    let disk = FaultVFS.disk
    try Self.check(disk, takesSpace: true, "rename", path)
    guard disk.image.names[path] != nil else { throw Self.error(ENOENT, "rename", path) }
    disk.perform(.rename(path: path, target: target))
  }

  func unlink(_ path: String) throws(FileError) {
    let disk = FaultVFS.disk
    try Self.check(disk, "unlink", path)
    guard disk.image.names[path] != nil else { throw Self.error(ENOENT, "unlink", path) }
    disk.perform(.unlink(path: path))
  }

  func makeDirectory(_ path: String) throws(FileError) {
    let disk = FaultVFS.disk
    try Self.check(disk, takesSpace: true, "mkdir", path)
    guard !disk.image.directories.contains(path), disk.image.names[path] == nil else {
      throw Self.error(EEXIST, "mkdir", path)
    }
    disk.makeDirectory(path)
  }

  func status(of path: String) throws(FileError) -> FileStatus? {
    let disk = FaultVFS.disk
    try Self.check(disk, "stat", path)
    if disk.image.directories.contains(path) { return FileStatus(kind: .directory, size: 0) }
    return disk.image[path].map { FileStatus(kind: .file, size: $0.size) }
  }

  func names(in directory: String) throws(FileError) -> [String] {
    let disk = FaultVFS.disk
    try Self.check(disk, "opendir", directory)
    guard disk.image.directories.contains(directory) else { throw Self.error(ENOENT, "opendir", directory) }
    let prefix = directory + "/"
    return disk.image.names.keys.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
      .filter { !$0.contains("/") }.sorted()
  }

  func restrictToOwner(_ path: String) throws(FileError) { try checkReadable(path) }

  func checkReadable(_ path: String) throws(FileError) {
    guard try status(of: path) != nil else { throw Self.error(ENOENT, "open", path) }
  }

  func tryLock(_ descriptor: Int32, _ path: String) throws(FileError) -> Bool {
    guard let open = FaultThread.current.open[descriptor], let file = open.file else {
      throw Self.error(EBADF, "flock", path)
    }
    try Self.check(open.disk, "flock", path)
    let node = open.disk.node(file)
    guard node.lockHolder == nil || node.lockHolder == descriptor else { return false }
    node.lockHolder = descriptor
    return true
  }

  func unlock(_ descriptor: Int32) {
    guard let open = FaultThread.current.open[descriptor], let file = open.file else { return }
    let node = open.disk.node(file)
    if node.lockHolder == descriptor { node.lockHolder = nil }
  }

  func isUnlinked(_ descriptor: Int32) -> Bool {
    guard let open = FaultThread.current.open[descriptor], let file = open.file else { return true }
    return !open.disk.image.names.values.contains(file)
  }

  private static func check(
    _ disk: FaultDisk, takesSpace: Bool = false, _ operation: String, _ path: String
  ) throws(FileError) {
    guard let fault = disk.nextFault(takesSpace: takesSpace) else { return }
    throw error(fault == .full ? ENOSPC : EIO, operation, path)
  }

  private static func error(_ number: Int32, _ operation: String, _ path: String) -> FileError {
    FileError(
      operation: operation, path: path, errno: number, reason: unsafe String(cString: strerror(number)))
  }
}

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The file calls of the operating system.
struct SystemFiles: FileSystem {
  func open(_ path: String, _ purpose: OpenPurpose) throws(FileError) -> Int32 {
    let flags =
      switch purpose {
      case .reading, .lockingExisting: O_RDONLY
      case .replacing: O_WRONLY | O_CREAT | O_TRUNC
      case .making: O_WRONLY | O_CREAT | O_EXCL
      case .locking, .updating: O_RDWR | O_CREAT
      }
    let descriptor = Self.systemOpen(path, flags | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileError.last("open", path) }
    return descriptor
  }

  func close(_ descriptor: Int32) {
    // Everything that has to be durable was synced before, so an error of close loses nothing.
    Self.systemClose(descriptor)
  }

  func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(FileError) {
    var written = 0
    while written < bytes.count {
      let count = unsafe bytes.withUnsafeBytes {
        #if canImport(Darwin)
          unsafe Darwin.write(descriptor, $0.baseAddress?.advanced(by: written), bytes.count - written)
        #else
          unsafe Glibc.write(descriptor, $0.baseAddress?.advanced(by: written), bytes.count - written)
        #endif
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw FileError.last("write", path) }
      written += count
    }
  }

  func write(
    _ bytes: [UInt8], to descriptor: Int32, at offset: Int, _ path: String
  ) throws(FileError) {
    var written = 0
    while written < bytes.count {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe pwrite(
          descriptor, $0.baseAddress?.advanced(by: written), bytes.count - written, off_t(offset + written))
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw FileError.last("write", path) }
      written += count
    }
  }

  func resize(_ descriptor: Int32, to size: Int, _ path: String) throws(FileError) {
    guard ftruncate(descriptor, off_t(size)) == 0 else { throw FileError.last("ftruncate", path) }
  }

  func size(of descriptor: Int32, _ path: String) throws(FileError) -> Int {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw FileError.last("fstat", path) }
    return Int(status.st_size)
  }

  func read(_ descriptor: Int32, from offset: Int, count: Int, _ path: String) throws(FileError) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: min(count, 65_536))
    while bytes.count < count {
      let wanted = min(chunk.count, count - bytes.count)
      let got = unsafe chunk.withUnsafeMutableBytes {
        unsafe pread(descriptor, $0.baseAddress, wanted, off_t(offset + bytes.count))
      }
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { throw FileError.last("read", path) }
      if got == 0 { break }
      bytes.append(contentsOf: chunk[..<got])
    }
    return bytes
  }

  func sync(_ descriptor: Int32, _ path: String) throws(FileError) {
    #if canImport(Darwin)
      // fsync alone leaves data in the drive's cache; file systems without F_FULLFSYNC get fsync.
      if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
    #endif
    guard fsync(descriptor) == 0 else { throw FileError.last("fsync", path) }
  }

  func rename(_ path: String, to target: String) throws(FileError) {
    #if canImport(Darwin)
      let result = unsafe Darwin.rename(path, target)
    #else
      let result = unsafe Glibc.rename(path, target)
    #endif
    guard result == 0 else { throw FileError.last("rename", path) }
  }

  func unlink(_ path: String) throws(FileError) {
    #if canImport(Darwin)
      let result = unsafe Darwin.unlink(path)
    #else
      let result = unsafe Glibc.unlink(path)
    #endif
    guard result == 0 else { throw FileError.last("unlink", path) }
  }

  func makeDirectory(_ path: String) throws(FileError) {
    guard unsafe mkdir(path, 0o700) == 0 else { throw FileError.last("mkdir", path) }
  }

  func status(of path: String) throws(FileError) -> FileStatus? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      if errno == ENOENT { return nil }
      throw FileError.last("stat", path)
    }
    let kind: FileStatus.Kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .directory
      default: .other
      }
    return FileStatus(kind: kind, size: Int(status.st_size))
  }

  func names(in directory: String) throws(FileError) -> [String] {
    guard let stream = unsafe opendir(directory) else { throw FileError.last("opendir", directory) }
    defer { unsafe _ = closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  func restrictToOwner(_ path: String) throws(FileError) {
    guard unsafe chmod(path, 0o600) == 0 else { throw FileError.last("chmod", path) }
  }

  func checkReadable(_ path: String) throws(FileError) {
    guard unsafe access(path, R_OK) == 0 else { throw FileError.last("open", path) }
  }

  func tryLock(_ descriptor: Int32, _ path: String) throws(FileError) -> Bool {
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      switch errno {
      case EINTR: continue
      case EWOULDBLOCK: return false
      default: throw FileError.last("flock", path)
      }
    }
    return true
  }

  func unlock(_ descriptor: Int32) {
    // Fails only for a descriptor that is not open, and this one is.
    _ = flock(descriptor, LOCK_UN)
  }

  func isUnlinked(_ descriptor: Int32) -> Bool {
    var status = stat()
    return unsafe fstat(descriptor, &status) != 0 || status.st_nlink == 0
  }

  // The methods of this type hide the globals with the same names.
  private static func systemOpen(_ path: String, _ flags: Int32) -> Int32 {
    #if canImport(Darwin)
      unsafe Darwin.open(path, flags, 0o600)
    #else
      unsafe Glibc.open(path, flags, 0o600)
    #endif
  }

  private static func systemClose(_ descriptor: Int32) {
    #if canImport(Darwin)
      _ = Darwin.close(descriptor)
    #else
      _ = Glibc.close(descriptor)
    #endif
  }
}

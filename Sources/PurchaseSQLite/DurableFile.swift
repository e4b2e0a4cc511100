#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Small files that are either whole or absent after a power cut, and the system calls they need.
package enum DurableFile {
  package enum Kind: Sendable { case absent, file, directory, other }

  /// Writes the bytes beside the target, syncs them, renames, and syncs the directory.
  ///
  /// A kill at any point leaves the old content or the new one; a leftover `.tmp` file is overwritten next time.
  package static func replace(_ path: String, with bytes: [UInt8]) throws(FileError) {
    let temporary = path + ".tmp"
    let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw FileError.last("open", temporary) }
    do throws(FileError) {
      try write(bytes, to: descriptor, temporary)
      try sync(descriptor, temporary)
    } catch {
      close(descriptor)
      unsafe _ = unlink(temporary)
      throw error
    }
    close(descriptor)
    guard systemRename(temporary, path) == 0 else {
      let error = FileError.last("rename", temporary)
      unsafe _ = unlink(temporary)
      throw error
    }
    try syncDirectory(of: path)
  }

  /// Removes a file for good. An absent one is fine.
  package static func remove(_ path: String) throws(FileError) {
    guard unsafe unlink(path) == 0 else {
      if errno == ENOENT { return }
      throw FileError.last("unlink", path)
    }
    try syncDirectory(of: path)
  }

  /// Removes a scratch file; nothing depends on whether that works.
  package static func discard(_ path: String) {
    unsafe _ = unlink(path)
  }

  /// Gives a file another name, in the same directory; not yet durable (`syncDirectory`). An absent one is fine.
  package static func rename(_ path: String, to target: String) throws(FileError) {
    guard systemRename(path, target) != 0, errno != ENOENT else { return }
    throw FileError.last("rename", path)
  }

  private static func systemRename(_ path: String, _ target: String) -> Int32 {
    #if canImport(Darwin)
      unsafe Darwin.rename(path, target)
    #else
      unsafe Glibc.rename(path, target)
    #endif
  }

  package static func read(_ path: String) throws(FileError) -> [UInt8] {
    try read(path, from: 0, count: Int.max)
  }

  package static func read(_ path: String, from offset: Int, count: Int) throws(FileError) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileError.last("open", path) }
    defer { close(descriptor) }
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

  package static func kind(of path: String) throws(FileError) -> Kind {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      if errno == ENOENT { return .absent }
      throw FileError.last("stat", path)
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return .file
    case S_IFDIR: return .directory
    default: return .other
    }
  }

  /// The size in bytes; 0 for an absent file.
  package static func size(of path: String) throws(FileError) -> Int {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      if errno == ENOENT { return 0 }
      throw FileError.last("stat", path)
    }
    return Int(status.st_size)
  }

  /// Creates a directory, and those above it, for the owner alone; an existing one is fine.
  package static func createDirectory(_ path: String) throws(FileError) {
    if unsafe mkdir(path, 0o700) == 0 { return try syncDirectory(of: path) }
    if errno == EEXIST {
      guard try kind(of: path) == .directory else {
        throw FileError(operation: "mkdir", path: path, errno: ENOTDIR, reason: "a file is in the way")
      }
      return
    }
    guard errno == ENOENT, let parent = parent(of: path) else { throw FileError.last("mkdir", path) }
    try createDirectory(parent)
    guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw FileError.last("mkdir", path) }
    try syncDirectory(of: path)
  }

  package static func names(in directory: String) throws(FileError) -> [String] {
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

  /// Makes an empty file for the owner alone, or an existing one readable for the owner alone.
  package static func createForOwner(_ path: String) throws(FileError) {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 {
      // Nobody has locks on a file that is just made.
      close(descriptor)
      return
    }
    guard errno == EEXIST else { throw FileError.last("open", path) }
    guard unsafe chmod(path, 0o600) == 0 else { throw FileError.last("chmod", path) }
  }

  /// Syncs the directory that holds `path`, so that a new or removed name survives power loss.
  package static func syncDirectory(of path: String) throws(FileError) {
    let directory = parent(of: path) ?? "."
    let descriptor = unsafe open(directory, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileError.last("open", directory) }
    defer { close(descriptor) }
    try sync(descriptor, directory)
  }

  package static func parent(of path: String) -> String? {
    guard let slash = path.lastIndex(of: "/") else { return nil }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Writes what `next` gives, piece by piece until it gives none, to a new file for the owner alone. Not synced: for
  /// scratch files.
  package static func fill<E: Error>(
    _ path: String, failing wrap: (FileError) -> E, with next: () throws(E) -> [UInt8]
  ) throws(E) {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw wrap(FileError.last("open", path)) }
    defer { close(descriptor) }
    while case let bytes = try next(), !bytes.isEmpty {
      do throws(FileError) {
        try write(bytes, to: descriptor, path)
      } catch {
        throw wrap(error)
      }
    }
  }

  /// Throws if this process may not read the file.
  package static func checkReadable(_ path: String) throws(FileError) {
    guard unsafe access(path, R_OK) == 0 else { throw FileError.last("open", path) }
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(FileError) {
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

  private static func sync(_ descriptor: Int32, _ path: String) throws(FileError) {
    #if canImport(Darwin)
      // fsync alone leaves data in the drive's cache; file systems without F_FULLFSYNC get fsync.
      if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
    #endif
    guard fsync(descriptor) == 0 else { throw FileError.last("fsync", path) }
  }
}

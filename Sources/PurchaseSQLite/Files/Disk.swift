#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The place where a queue's files are: a file system, and the SQLite VFS that puts databases on it.
///
/// `Disk.system` is the operating system's. Tests pass a disk in memory that fails on demand. After a power cut, a
/// small file written by `replace` is either whole or absent.
package struct Disk: Sendable {
  /// The calls for everything but SQLite's own files.
  package let files: any FileSystem
  /// The name of the SQLite VFS; nil for `CoalescedWALVFS` over SQLite's default VFS.
  package let vfs: String?

  package init(files: any FileSystem, vfs: String? = nil) {
    self.files = files
    self.vfs = vfs
  }

  /// The operating system's files.
  package static let system = Disk(files: SystemFiles())

  // MARK: Writing

  /// Writes the bytes to `PATH.tmp`, syncs that file, renames it, and syncs the directory.
  ///
  /// A kill at any point leaves the old content or the new one. The next call overwrites a leftover `.tmp` file.
  package func replace(_ path: String, with bytes: [UInt8]) throws(FileError) {
    let temporary = path + ".tmp"
    let descriptor = try files.open(temporary, .replacing)
    do throws(FileError) {
      try files.write(bytes, to: descriptor, temporary)
      try files.sync(descriptor, temporary)
    } catch {
      files.close(descriptor)
      discard(temporary)
      throw error
    }
    files.close(descriptor)
    do throws(FileError) {
      try files.rename(temporary, to: path)
    } catch {
      discard(temporary)
      throw error
    }
    try syncDirectory(of: path)
  }

  /// Writes the bytes over those of an existing file, and syncs it. Does nothing if the file ends before: another process
  /// may have removed it since.
  package func overwrite(_ path: String, at offset: Int, with bytes: [UInt8]) throws(FileError) {
    guard try kind(of: path) == .file else { return }
    let descriptor = try files.open(path, .updating)
    defer { files.close(descriptor) }
    guard try files.size(of: descriptor, path) >= offset + bytes.count else { return }
    try files.write(bytes, to: descriptor, at: offset, path)
    try files.sync(descriptor, path)
  }

  /// Writes the pieces that `next` returns, until it returns an empty one, to a new file for the owner alone. Not
  /// synced: for scratch files.
  package func fill<E: Error>(
    _ path: String, failing wrap: (FileError) -> E, with next: () throws(E) -> [UInt8]
  ) throws(E) {
    let descriptor: Int32
    do throws(FileError) {
      descriptor = try files.open(path, .making)
    } catch {
      throw wrap(error)
    }
    defer { files.close(descriptor) }
    while case let bytes = try next(), !bytes.isEmpty {
      do throws(FileError) {
        try files.write(bytes, to: descriptor, path)
      } catch {
        throw wrap(error)
      }
    }
  }

  /// Makes an empty file for the owner alone, or restricts an existing one to the owner.
  package func createForOwner(_ path: String) throws(FileError) {
    do throws(FileError) {
      // Closing a descriptor drops this process's POSIX locks on the file; a new file has none.
      files.close(try files.open(path, .making))
    } catch {
      guard error.errno == EEXIST else { throw error }
      try files.restrictToOwner(path)
    }
  }

  /// Creates a directory and its missing parents, for the owner alone. An existing directory is fine.
  package func createDirectory(_ path: String) throws(FileError) {
    do throws(FileError) {
      try files.makeDirectory(path)
    } catch {
      if error.errno == EEXIST {
        guard try kind(of: path) == .directory else {
          throw FileError(operation: "mkdir", path: path, errno: ENOTDIR, reason: "a file is in the way")
        }
        return
      }
      guard error.errno == ENOENT, let parent = Self.parent(of: path) else { throw error }
      try createDirectory(parent)
      return try createLast(path)
    }
    try syncDirectory(of: path)
  }

  /// Another process may create the directory at the same moment.
  private func createLast(_ path: String) throws(FileError) {
    do throws(FileError) {
      try files.makeDirectory(path)
    } catch {
      guard error.errno == EEXIST else { throw error }
    }
    try syncDirectory(of: path)
  }

  /// Makes the name of a directory durable that was there already: its maker may have been killed before the sync.
  package func syncName(ofDirectory path: String) throws(FileError) {
    do throws(FileError) {
      try syncDirectory(of: path)
    } catch {
      // Where this process may not read the parent, it has not made the directory either: that ends with a sync.
      guard error.errno == EACCES || error.errno == EPERM else { throw error }
    }
  }

  /// Syncs the directory that holds `path`, so that a new or removed name survives power loss.
  package func syncDirectory(of path: String) throws(FileError) {
    let directory = Self.parent(of: path) ?? "."
    let descriptor = try files.open(directory, .reading)
    defer { files.close(descriptor) }
    try files.sync(descriptor, directory)
  }

  // MARK: Removing and renaming

  /// Removes a file durably. An absent file is fine.
  package func remove(_ path: String) throws(FileError) {
    if try unlink(path) { try syncDirectory(of: path) }
  }

  /// Removes a file. Durable only after `syncDirectory`. False for an absent file.
  @discardableResult
  package func unlink(_ path: String) throws(FileError) -> Bool {
    do throws(FileError) {
      try files.unlink(path)
      return true
    } catch {
      if error.errno == ENOENT { return false }
      throw error
    }
  }

  /// Removes a scratch file. A failure is ignored: nothing depends on the removal.
  package func discard(_ path: String) {
    do throws(FileError) {
      try unlink(path)
    } catch {
      return
    }
  }

  /// Renames a file within its directory. Durable only after `syncDirectory`. An absent file is fine.
  package func rename(_ path: String, to target: String) throws(FileError) {
    do throws(FileError) {
      try files.rename(path, to: target)
    } catch {
      if error.errno == ENOENT { return }
      throw error
    }
  }

  // MARK: Reading

  package func read(_ path: String) throws(FileError) -> [UInt8] {
    try read(path, from: 0, count: Int.max)
  }

  package func read(_ path: String, from offset: Int, count: Int) throws(FileError) -> [UInt8] {
    let descriptor = try files.open(path, .reading)
    defer { files.close(descriptor) }
    return try files.read(descriptor, from: offset, count: count, path)
  }

  /// As `read`; empty for an absent file. Another process may remove the file at any moment.
  package func readIfPresent(_ path: String, count: Int = .max) throws(FileError) -> [UInt8] {
    do throws(FileError) {
      return try read(path, from: 0, count: count)
    } catch {
      if error.errno == ENOENT { return [] }
      throw error
    }
  }

  package func kind(of path: String) throws(FileError) -> FileStatus.Kind {
    try files.status(of: path)?.kind ?? .absent
  }

  /// The size in bytes; 0 for an absent file.
  package func size(of path: String) throws(FileError) -> Int {
    try files.status(of: path)?.size ?? 0
  }

  /// The names in a directory, sorted.
  package func names(in directory: String) throws(FileError) -> [String] {
    try files.names(in: directory)
  }

  /// Throws if this process may not read the file.
  package func checkReadable(_ path: String) throws(FileError) {
    try files.checkReadable(path)
  }

  /// The directory of a path; nil if the path has no slash.
  package static func parent(of path: String) -> String? {
    guard let slash = path.lastIndex(of: "/") else { return nil }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Small files that are either whole or absent after a power cut, and what else is done with files.
package enum DurableFile {
  package enum Kind: Sendable { case absent, file, directory, other }

  private static var files: any FileSystem { unsafe Files.system }

  /// Writes the bytes beside the target, syncs them, renames, and syncs the directory.
  ///
  /// A kill at any point leaves the old content or the new one; a leftover `.tmp` file is overwritten next time.
  package static func replace(_ path: String, with bytes: [UInt8]) throws(FileError) {
    let temporary = path + ".tmp"
    let files = self.files
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

  /// Removes a file for good. An absent one is fine.
  package static func remove(_ path: String) throws(FileError) {
    do throws(FileError) {
      try files.unlink(path)
    } catch {
      if error.errno == ENOENT { return }
      throw error
    }
    try syncDirectory(of: path)
  }

  /// Removes a scratch file; nothing depends on whether that works.
  package static func discard(_ path: String) {
    do throws(FileError) {
      try files.unlink(path)
    } catch {
      return
    }
  }

  /// Gives a file another name, in the same directory; not yet durable (`syncDirectory`). An absent one is fine.
  package static func rename(_ path: String, to target: String) throws(FileError) {
    do throws(FileError) {
      try files.rename(path, to: target)
    } catch {
      if error.errno == ENOENT { return }
      throw error
    }
  }

  package static func read(_ path: String) throws(FileError) -> [UInt8] {
    try read(path, from: 0, count: Int.max)
  }

  package static func read(_ path: String, from offset: Int, count: Int) throws(FileError) -> [UInt8] {
    let files = self.files
    let descriptor = try files.open(path, .reading)
    defer { files.close(descriptor) }
    return try files.read(descriptor, from: offset, count: count, path)
  }

  package static func kind(of path: String) throws(FileError) -> Kind {
    try files.status(of: path)?.kind ?? .absent
  }

  /// The size in bytes; 0 for an absent file.
  package static func size(of path: String) throws(FileError) -> Int {
    try files.status(of: path)?.size ?? 0
  }

  /// Creates a directory, and those above it, for the owner alone; an existing one is fine.
  package static func createDirectory(_ path: String) throws(FileError) {
    do throws(FileError) {
      try files.makeDirectory(path)
    } catch {
      if error.errno == EEXIST {
        guard try kind(of: path) == .directory else {
          throw FileError(operation: "mkdir", path: path, errno: ENOTDIR, reason: "a file is in the way")
        }
        return
      }
      guard error.errno == ENOENT, let parent = parent(of: path) else { throw error }
      try createDirectory(parent)
      return try createLast(path)
    }
    try syncDirectory(of: path)
  }

  /// Somebody else may make it at the same moment.
  private static func createLast(_ path: String) throws(FileError) {
    do throws(FileError) {
      try files.makeDirectory(path)
    } catch {
      guard error.errno == EEXIST else { throw error }
    }
    try syncDirectory(of: path)
  }

  package static func names(in directory: String) throws(FileError) -> [String] {
    try files.names(in: directory)
  }

  /// Makes an empty file for the owner alone, or an existing one readable for the owner alone.
  package static func createForOwner(_ path: String) throws(FileError) {
    let files = self.files
    do throws(FileError) {
      // Nobody has locks on a file that is just made.
      files.close(try files.open(path, .making))
    } catch {
      guard error.errno == EEXIST else { throw error }
      try files.restrictToOwner(path)
    }
  }

  /// Syncs the directory that holds `path`, so that a new or removed name survives power loss.
  package static func syncDirectory(of path: String) throws(FileError) {
    let directory = parent(of: path) ?? "."
    let files = self.files
    let descriptor = try files.open(directory, .reading)
    defer { files.close(descriptor) }
    try files.sync(descriptor, directory)
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
    let files = self.files
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

  /// Throws if this process may not read the file.
  package static func checkReadable(_ path: String) throws(FileError) {
    try files.checkReadable(path)
  }
}

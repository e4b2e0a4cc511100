/// The file calls of `Disk` and `AdvisoryLock`: everything but SQLite's own files.
///
/// `SystemFiles` calls the operating system. Tests bring a disk in memory.
package protocol FileSystem: Sendable {
  /// Returns a descriptor.
  func open(_ path: String, _ purpose: OpenPurpose) throws(FileError) -> Int32
  func close(_ descriptor: Int32)
  /// Appends all of the bytes.
  func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(FileError)
  /// Writes all of the bytes from the offset on, over what is there.
  func write(_ bytes: [UInt8], to descriptor: Int32, at offset: Int, _ path: String) throws(FileError)
  /// Cuts the file, or extends it with zeros.
  func resize(_ descriptor: Int32, to size: Int, _ path: String) throws(FileError)
  /// The size of an open file in bytes.
  func size(of descriptor: Int32, _ path: String) throws(FileError) -> Int
  /// At most `count` bytes; fewer at the end of the file.
  func read(_ descriptor: Int32, from offset: Int, count: Int, _ path: String) throws(FileError) -> [UInt8]
  /// Makes the file's bytes durable, or a directory's names.
  func sync(_ descriptor: Int32, _ path: String) throws(FileError)
  func rename(_ path: String, to target: String) throws(FileError)
  func unlink(_ path: String) throws(FileError)
  /// For the owner alone.
  func makeDirectory(_ path: String) throws(FileError)
  /// Nil if no file is at the path.
  func status(of path: String) throws(FileError) -> FileStatus?
  func names(in directory: String) throws(FileError) -> [String]
  func restrictToOwner(_ path: String) throws(FileError)
  func checkReadable(_ path: String) throws(FileError)
  /// True if this descriptor now holds the lock of its file. Never waits.
  func tryLock(_ descriptor: Int32, _ path: String) throws(FileError) -> Bool
  func unlock(_ descriptor: Int32)
  /// True if the file was removed from its directory.
  func isUnlinked(_ descriptor: Int32) -> Bool
}

/// The purpose of opening a file. A new file belongs to the owner alone (0600).
package enum OpenPurpose: Sendable, Hashable {
  case reading
  /// Write from the start; an existing file is emptied.
  case replacing
  /// Read and write; create the file if it is absent.
  case updating
  /// Write a new file; an existing one is an error.
  case making
  /// Lock the file; create it if it is absent.
  case locking
  /// Lock an existing file.
  case lockingExisting
}

/// The kind and the size of a file.
package struct FileStatus: Sendable, Hashable {
  package enum Kind: Sendable { case absent, file, directory, other }

  package var kind: Kind
  package var size: Int

  package init(kind: Kind, size: Int) {
    self.kind = kind
    self.size = size
  }
}

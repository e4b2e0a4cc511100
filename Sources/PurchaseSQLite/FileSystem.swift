/// The calls below `DurableFile` and `AdvisoryLock`: what is done with files beside SQLite's own.
///
/// `Files.system` is the operating system; only a process that tests puts a disk in memory in its place.
package protocol FileSystem: Sendable {
  /// Returns a descriptor.
  func open(_ path: String, _ purpose: OpenPurpose) throws(FileError) -> Int32
  func close(_ descriptor: Int32)
  /// All of the bytes, at the end of what was written so far.
  func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(FileError)
  /// At most so many bytes; fewer at the end of the file.
  func read(_ descriptor: Int32, from offset: Int, count: Int, _ path: String) throws(FileError) -> [UInt8]
  /// Makes the file's bytes durable, or a directory's names.
  func sync(_ descriptor: Int32, _ path: String) throws(FileError)
  func rename(_ path: String, to target: String) throws(FileError)
  func unlink(_ path: String) throws(FileError)
  /// For the owner alone.
  func makeDirectory(_ path: String) throws(FileError)
  /// Nil if there is nothing at the path.
  func status(of path: String) throws(FileError) -> FileStatus?
  func names(in directory: String) throws(FileError) -> [String]
  func restrictToOwner(_ path: String) throws(FileError)
  func checkReadable(_ path: String) throws(FileError)
  /// True if this descriptor has the lock of its file from now on; never waits.
  func tryLock(_ descriptor: Int32, _ path: String) throws(FileError) -> Bool
  func unlock(_ descriptor: Int32)
  /// True if the file has no name any more.
  func isUnlinked(_ descriptor: Int32) -> Bool
}

/// What a file is opened for. What is made is the owner's alone (0600).
package enum OpenPurpose: Sendable, Hashable {
  case reading
  /// To be written from the start; emptied if it is there.
  case replacing
  /// To be written; an error if it is there.
  case making
  /// To be locked; made if there is none.
  case locking
  /// To be locked, if it is there.
  case lockingExisting
}

/// What is at a path.
package struct FileStatus: Sendable, Hashable {
  package var kind: DurableFile.Kind
  package var size: Int

  package init(kind: DurableFile.Kind, size: Int) {
    self.kind = kind
    self.size = size
  }
}

/// Which file system this process uses.
package enum Files {
  /// To be replaced only before anything was opened, by a process that has one thread for it.
  package nonisolated(unsafe) static var system: any FileSystem = SystemFiles()
}

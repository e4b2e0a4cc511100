#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A lock between processes, on a file of its own (`flock`): it dies with the process that holds it.
///
/// Two locks opened in one process exclude each other as well. Never waits: who does not get it, is told.
@safe package struct AdvisoryLock: ~Copyable {
  private let descriptor: Int32
  private let path: String
  // The one that opened it.
  private let files: any FileSystem

  /// Opens the lock's file, made if there is none; nothing is locked yet.
  package init(path: String) throws(FileError) {
    files = unsafe Files.system
    self.path = path
    descriptor = try files.open(path, .locking)
  }

  /// Opens a lock's file that is there already, without the right to write it; nil if there is none.
  package init?(existing path: String) throws(FileError) {
    let files = unsafe Files.system
    do throws(FileError) {
      descriptor = try files.open(path, .lockingExisting)
    } catch {
      if error.errno == ENOENT { return nil }
      throw error
    }
    self.path = path
    self.files = files
  }

  // Closing the last descriptor of the open file releases its lock.
  deinit { files.close(descriptor) }

  /// True if the lock is held from now on; false if somebody else holds it.
  package func tryLock() throws(FileError) -> Bool { try files.tryLock(descriptor, path) }

  /// Tries until the time is over; false then. A process that was stopped while it held the lock cannot hang us.
  package func lock(timeoutMilliseconds: Int) throws(FileError) -> Bool {
    if try tryLock() { return true }
    var waited = 0
    var pause = 100
    while waited < timeoutMilliseconds * 1_000 {
      usleep(UInt32(pause))
      if try tryLock() { return true }
      waited += pause
      pause = min(pause * 2, 5_000)
    }
    return false
  }

  package func unlock() { files.unlock(descriptor) }

  /// Removes the lock's file and lets go; to be called by its holder. Whoever had it open finds out by `isOrphaned`.
  package func release() {
    // Released before: the file of that name may be somebody else's by now.
    guard !isOrphaned else { return }
    DurableFile.discard(path)
    unlock()
  }

  /// True if the file was removed since it was opened: a lock on it means nothing any more.
  package var isOrphaned: Bool { files.isUnlinked(descriptor) }
}

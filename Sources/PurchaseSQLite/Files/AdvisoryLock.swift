#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A lock between processes, on a file of its own (`flock`). It ends with the process that holds it.
///
/// Two locks on one file exclude each other within a process as well. `tryLock` never waits.
@safe package struct AdvisoryLock: ~Copyable {
  private let descriptor: Int32
  private let path: String
  private let disk: Disk

  /// Opens the lock's file, and creates it if it is absent. Locks nothing yet.
  package init(path: String, on disk: Disk = .system) throws(FileError) {
    descriptor = try disk.files.open(path, .locking)
    self.path = path
    self.disk = disk
  }

  /// Opens an existing lock file without the right to write it; nil if the file is absent.
  package init?(existing path: String, on disk: Disk = .system) throws(FileError) {
    do throws(FileError) {
      descriptor = try disk.files.open(path, .lockingExisting)
    } catch {
      if error.errno == ENOENT { return nil }
      throw error
    }
    self.path = path
    self.disk = disk
  }

  deinit {
    // Closing is not enough: a child process that is starting has a copy of the descriptor, and with it the lock.
    disk.files.unlock(descriptor)
    disk.files.close(descriptor)
  }

  /// True if this value holds the lock now; false if another one holds it.
  package func tryLock() throws(FileError) -> Bool { try disk.files.tryLock(descriptor, path) }

  /// Tries until the time is over; then false. So a process that was stopped while it held the lock cannot make this
  /// one hang. For locks that are held for a moment; `WriteLock` has a line for those that wait.
  package func lock(timeoutMilliseconds: Int) throws(FileError) -> Bool {
    var pauses = LockPauses()
    while try !tryLock() {
      guard pauses.all < timeoutMilliseconds * 1_000 else { return false }
      usleep(UInt32(pauses.next()))
    }
    return true
  }

  /// Writes into the lock's file, which is not synced. Only the holder of the lock may call this.
  package func write(_ bytes: [UInt8]) throws(FileError) {
    try disk.files.write(bytes, to: descriptor, at: 0, path)
  }

  package func unlock() { disk.files.unlock(descriptor) }

  /// Removes the lock's file and releases the lock. Only its holder may call this. Other processes that have the file
  /// open see it in `isOrphaned`.
  package func release() {
    // After an earlier release, a file of this name may belong to another holder.
    guard !isOrphaned else { return }
    disk.discard(path)
    unlock()
  }

  /// True if the file was removed since it was opened. A lock on a removed file excludes nothing.
  package var isOrphaned: Bool { disk.files.isUnlinked(descriptor) }
}

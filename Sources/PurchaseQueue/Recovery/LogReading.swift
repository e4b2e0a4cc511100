import PurchaseSQLite

extension LogImage {
  /// The log of a file, as it is on the disk.
  init(of path: String, on disk: Disk) throws(FileError) {
    self.init(try disk.readIfPresent(path + "-wal"), try WriteLock.note(of: path, on: disk))
  }
}

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A file descriptor, closed when it goes out of scope.
struct SystemFile: ~Copyable {
  private let descriptor: Int32
  private let path: String

  init(appendingTo path: String) throws(BenchError) {
    try self.init(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC)
  }

  init(replacing path: String) throws(BenchError) {
    try self.init(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC)
  }

  private init(_ path: String, _ flags: Int32) throws(BenchError) {
    descriptor = unsafe open(path, flags, 0o600)
    self.path = path
    guard descriptor >= 0 else { throw .lastCall("open", path) }
  }

  deinit { close(descriptor) }

  borrowing func write(_ bytes: [UInt8]) throws(BenchError) {
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
      guard count >= 0 else { throw .lastCall("write", path) }
      written += count
    }
  }

  /// Syncs the data, and only the metadata that is needed to read it.
  borrowing func syncData() throws(BenchError) {
    #if canImport(Darwin)
      // The same call as in the queue's connection.
      guard fcntl(descriptor, F_FULLFSYNC) == 0 else { throw .lastCall("fcntl", path) }
    #else
      guard fdatasync(descriptor) == 0 else { throw .lastCall("fdatasync", path) }
    #endif
  }

  borrowing func syncAll() throws(BenchError) {
    #if canImport(Darwin)
      try syncData()
    #else
      guard fsync(descriptor) == 0 else { throw .lastCall("fsync", path) }
    #endif
  }

  static func rename(_ old: String, to new: String) throws(BenchError) {
    #if canImport(Darwin)
      let result = unsafe Darwin.rename(old, new)
    #else
      let result = unsafe Glibc.rename(old, new)
    #endif
    guard result == 0 else { throw .lastCall("rename", old) }
  }

  /// In bytes; 0 for an absent file.
  static func size(of path: String) throws(BenchError) -> Int {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      if errno == ENOENT { return 0 }
      throw .lastCall("stat", path)
    }
    return Int(status.st_size)
  }
}

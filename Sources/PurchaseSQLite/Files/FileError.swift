#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A failed file operation: the operation, the path and the reason of the system.
package struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
  package var operation: String
  package var path: String
  package var errno: Int32
  package var reason: String

  package init(operation: String, path: String, errno: Int32, reason: String) {
    self.operation = operation
    self.path = path
    self.errno = errno
    self.reason = reason
  }

  package var description: String { "\(operation) \(path): \(reason) (errno \(errno))" }

  /// A lock that another holder did not release.
  package static func held(_ path: String, _ howLong: String) -> FileError {
    FileError(operation: "flock", path: path, errno: EWOULDBLOCK, reason: "held " + howLong)
  }

  /// The error of the call that has just failed, from the `errno` of the thread.
  static func last(_ operation: String, _ path: String) -> FileError {
    let number = currentErrno
    return FileError(
      operation: operation, path: path, errno: number, reason: unsafe String(cString: strerror(number)))
  }

  // The property `errno` of this type hides the global one.
  private static var currentErrno: Int32 {
    #if canImport(Darwin)
      Darwin.errno
    #else
      Glibc.errno
    #endif
  }
}

extension FileError {
  /// True if the disk is full, the quota of the owner is used up, or the file would be too large.
  package var isDiskFull: Bool { errno == ENOSPC || errno == EDQUOT || errno == EFBIG }
}

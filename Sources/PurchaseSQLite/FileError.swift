#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A failed call on a file: what was done, where, and the system's reason.
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

  /// Of the call that has just failed, by the thread's `errno`.
  static func last(_ operation: String, _ path: String) -> FileError {
    let number = currentErrno
    return FileError(
      operation: operation, path: path, errno: number, reason: unsafe String(cString: strerror(number)))
  }

  // A property of the same name hides the global inside this type.
  private static var currentErrno: Int32 {
    #if canImport(Darwin)
      Darwin.errno
    #else
      Glibc.errno
    #endif
  }
}

extension FileError {
  /// True if there is no room: on the disk, in the owner's quota, or for a file of that size.
  package var isDiskFull: Bool { errno == ENOSPC || errno == EDQUOT || errno == EFBIG }
}

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A new directory for the owner alone (0700). It is removed with its files when this value goes out of scope. A kill
/// leaves it behind.
@safe package struct PrivateDirectory: ~Copyable {
  package let path: String

  /// Creates it inside `parent`, with a name that begins with `prefix`.
  package init(in parent: String, prefix: String) throws(FileError) {
    var template = Array((parent + "/" + prefix + "XXXXXX").utf8CString)
    let made = unsafe template.withUnsafeMutableBufferPointer { buffer -> String? in
      guard let base = buffer.baseAddress, let made = unsafe mkdtemp(base) else { return nil }
      return unsafe String(cString: made)
    }
    guard let made else { throw FileError.last("mkdtemp", parent) }
    path = made
  }

  deinit {
    for name in names() { Disk.system.discard(path + "/" + name) }
    unsafe _ = rmdir(path)
  }

  private borrowing func names() -> [String] {
    do throws(FileError) {
      return try Disk.system.names(in: path)
    } catch {
      // The directory was removed, or this process may no longer read it: nothing can be removed.
      return []
    }
  }
}

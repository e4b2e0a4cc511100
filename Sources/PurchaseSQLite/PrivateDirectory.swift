#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A new directory that nobody but its owner may enter (0700), removed with the files in it when this value goes out
/// of scope. A kill leaves it behind.
@safe package struct PrivateDirectory: ~Copyable {
  package let path: String

  /// Makes it below `parent`, with a name that begins with `prefix`.
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
    for name in names() { DurableFile.discard(path + "/" + name) }
    unsafe _ = rmdir(path)
  }

  private borrowing func names() -> [String] {
    do throws(FileError) {
      return try DurableFile.names(in: path)
    } catch {
      // Somebody else removed it, or its rights: nothing of it can be removed any more.
      return []
    }
  }
}

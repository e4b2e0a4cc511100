import PurchaseSQLite

/// Something that was done to a disk, in the order in which it was done. Files are numbered: a name may come to mean
/// another file, and the first one may still be there after a power cut.
package enum DiskOperation: Sendable {
  case write(file: Int, offset: Int, bytes: [UInt8])
  /// A write of nothing but zeros.
  case clear(file: Int, offset: Int, count: Int)
  case resize(file: Int, size: Int)
  /// A new file, empty, under a name.
  case link(path: String, file: Int)
  case unlink(path: String)
  case rename(path: String, target: String)
  /// From here on what was done to the file's bytes survives a power cut.
  case sync(file: Int)
  /// From here on what was done to the names in the directory survives a power cut.
  case syncDirectory(String)
  /// An item of the vault, stored or (nil) removed: durable at once, as its protocol promises.
  case vault(name: String, bytes: [UInt8]?)

  /// The file whose bytes it changes.
  var changedFile: Int? {
    switch self {
    case .write(let file, _, _), .clear(let file, _, _), .resize(let file, _): file
    default: nil
    }
  }

  /// Whether it is the note of a log (`LogNote`) over another one.
  func replaces(_ other: DiskOperation) -> Bool {
    guard case .write(let file, 0, let bytes) = self, case .write(file, 0, let old) = other else {
      return false
    }
    return bytes.count == LogNote.size && old.count == LogNote.size
  }

  /// The directory whose names it changes.
  var changedDirectory: String? {
    switch self {
    case .link(let path, _), .unlink(let path), .rename(let path, _): DiskImage.directory(of: path)
    default: nil
    }
  }

  /// One line for people.
  package var summary: String {
    switch self {
    case .write(let file, let offset, let bytes): "write #\(file) \(bytes.count) bytes at \(offset)"
    case .clear(let file, let offset, let count): "zero #\(file) \(count) bytes at \(offset)"
    case .resize(let file, let size): "truncate #\(file) to \(size)"
    case .link(let path, let file): "create \(path) as #\(file)"
    case .unlink(let path): "delete \(path)"
    case .rename(let path, let target): "rename \(path) to \(target)"
    case .sync(let file): "sync #\(file)"
    case .syncDirectory(let path): "sync directory \(path)"
    case .vault(let name, let bytes): bytes == nil ? "vault removes \(name)" : "vault stores \(name)"
    }
  }
}

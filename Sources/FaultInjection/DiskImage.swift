/// The content of a disk: files by number, the names of some of them, and the vault.
package struct DiskImage: Sendable {
  package var names: [String: Int] = [:]
  package var files: [Int: FileContent] = [:]
  package var directories: Set<String> = [DiskImage.root]
  package var vault: [String: [UInt8]] = [:]

  /// The directory that is always there.
  package static let root = "/disk"

  package init() {}

  /// The content of the file with this name; nil if there is none.
  package subscript(path: String) -> FileContent? { names[path].flatMap { files[$0] } }

  package static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Does what the operation does; names that are not there are passed over, as when the operation before it was lost.
  mutating func apply(_ operation: DiskOperation) {
    switch operation {
    case .write(let file, let offset, let bytes):
      unsafe bytes.withUnsafeBytes { unsafe files[file, default: FileContent()].write($0, at: offset) }
    case .clear(let file, let offset, let count):
      files[file, default: FileContent()].clear(at: offset, count: count)
    case .resize(let file, let size): files[file, default: FileContent()].resize(to: size)
    case .link(let path, let file):
      names[path] = file
      if files[file] == nil { files[file] = FileContent() }
    case .unlink(let path): names[path] = nil
    case .rename(let path, let target):
      guard let file = names[path] else { return }
      names[path] = nil
      names[target] = file
    case .sync, .syncDirectory: break
    case .vault(let name, let bytes): vault[name] = bytes
    }
  }

  /// The image without files that lost their name, as a new process finds it.
  package var withoutUnnamedFiles: DiskImage {
    var image = self
    let named = Set(names.values)
    image.files = files.filter { named.contains($0.key) }
    return image
  }
}

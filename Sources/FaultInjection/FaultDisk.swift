/// A disk in memory that logs its operations and fails on demand.
///
/// `FaultVFS` puts SQLite on it, `FaultFiles` the file calls of `Disk` and `AdvisoryLock`. Files in memory, locks and
/// SQLite's shared memory live as long as this object: a new disk made of an image is the machine after the power came
/// back. Belongs to one thread.
package final class FaultDisk: @unchecked Sendable {
  /// The content that the running process sees, synced or not.
  package private(set) var image: DiskImage
  /// Syncs that a planted bug leaves out. They succeed, and nothing becomes durable.
  package enum SyncsLeftOut { case none, all, ofHeaders }

  package var leavesOut = SyncsLeftOut.none
  /// The log for `CrashReplay`; empty if it is not kept.
  package private(set) var log: [DiskOperation] = []
  private let keepsLog: Bool
  private var nextFile: Int
  private var counter = FaultCounter()
  /// Locks and shared memory of the files.
  private var nodes: [Int: FileNode] = [:]

  package init(_ image: DiskImage = DiskImage(), keepsLog: Bool = false) {
    self.image = image
    self.keepsLog = keepsLog
    nextFile = (image.files.keys.max() ?? 0) + 1
  }

  // MARK: Faults

  /// Sets the fault; nil for none. The count of operations starts again.
  package func fail(_ fault: DiskFault?) { counter.set(fault) }

  /// Operations since `fail` was called that could have failed so.
  package func operations(_ kind: DiskFault.Kind) -> Int {
    kind == .full ? counter.takingSpace : counter.all
  }

  /// How many operations failed since `fail` was called.
  package var failures: Int { counter.failed }

  /// To be asked before each operation; not nil if it has to fail.
  func nextFault(takesSpace: Bool = false) -> DiskFault.Kind? { counter.next(takesSpace: takesSpace) }

  // MARK: Operations

  func perform(_ operation: DiskOperation) {
    image.apply(operation)
    if keepsLog { log.append(operation) }
  }

  /// A file without a name, which nothing survives: it is not in the log.
  func makeScratchFile() -> Int {
    let file = takeNumber()
    image.files[file] = FileContent()
    return file
  }

  func removeScratchFile(_ file: Int) { image.files[file] = nil }

  func makeFile(_ path: String) -> Int {
    let file = takeNumber()
    perform(.link(path: path, file: file))
    return file
  }

  func write(_ bytes: UnsafeRawBufferPointer, to file: Int, at offset: Int, isScratch: Bool = false) {
    guard bytes.count > 0 else { return }
    if !isScratch, bytes.count >= 4096, unsafe FileContent.isZero(bytes) {
      // As where a log is made longer ahead of its need: zeros take no memory.
      perform(.clear(file: file, offset: offset, count: bytes.count))
    } else if isScratch || !keepsLog {
      unsafe image.files[file, default: FileContent()].write(bytes, at: offset)
    } else {
      perform(.write(file: file, offset: offset, bytes: unsafe [UInt8](bytes)))
    }
  }

  /// The result of a failure in the middle of a write: the first half, in whole sectors.
  func writeHalf(_ bytes: UnsafeRawBufferPointer, to file: Int, at offset: Int, isScratch: Bool = false) {
    let half = bytes.count / 2 / FileContent.sectorSize * FileContent.sectorSize
    unsafe write(UnsafeRawBufferPointer(rebasing: bytes[..<half]), to: file, at: offset, isScratch: isScratch)
  }

  func resize(_ file: Int, to size: Int, isScratch: Bool = false) {
    if isScratch { image.files[file]?.resize(to: size) } else { perform(.resize(file: file, size: size)) }
  }

  package func makeDirectory(_ path: String) { image.directories.insert(path) }

  // MARK: Folders, from outside

  /// The files of the directory, by path. The copies cost nothing until one of them is written.
  package func contents(of directory: String) -> [String: FileContent] {
    let prefix = directory + "/"
    var contents: [String: FileContent] = [:]
    for (path, file) in image.names where path.hasPrefix(prefix) { contents[path] = image.files[file] }
    return contents
  }

  /// Replaces the files of the directory. None of them may be open.
  package func replaceContents(of directory: String, with contents: [String: FileContent]) {
    let prefix = directory + "/"
    for path in image.names.keys where path.hasPrefix(prefix) { image.names[path] = nil }
    // Also files that lost their name before: no process has them open.
    let named = Set(image.names.values)
    for file in image.files.keys where !named.contains(file) {
      image.files[file] = nil
      nodes[file] = nil
    }
    for (path, content) in contents {
      let file = takeNumber()
      image.names[path] = file
      image.files[file] = content
    }
  }

  /// Removes the directory and its files.
  package func removeDirectory(_ directory: String) {
    replaceContents(of: directory, with: [:])
    image.directories.remove(directory)
  }

  func node(_ file: Int) -> FileNode {
    if let node = nodes[file] { return node }
    let node = FileNode()
    nodes[file] = node
    return node
  }

  private func takeNumber() -> Int {
    defer { nextFile += 1 }
    return nextFile
  }
}

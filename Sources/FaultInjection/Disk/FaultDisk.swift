/// A disk in memory that keeps a log of what is done to it, and fails on demand.
///
/// `FaultVFS` puts SQLite on it, `FaultFiles` what `DurableFile` and `AdvisoryLock` do. Files in memory, locks and
/// SQLite's shared memory live as long as this object: a new disk made of an image is the machine after the power came
/// back. Belongs to one thread.
package final class FaultDisk: @unchecked Sendable {
  /// What is on it as the running process sees it, synced or not.
  package private(set) var image: DiskImage
  /// What was done, for `CrashReplay`; nothing if it is not kept.
  package private(set) var log: [DiskOperation] = []
  private let keepsLog: Bool
  private var nextFile: Int
  private var counter = FaultCounter()
  /// What is known of files beside their content.
  private var nodes: [Int: FileNode] = [:]

  package init(_ image: DiskImage = DiskImage(), keepsLog: Bool = false) {
    self.image = image
    self.keepsLog = keepsLog
    nextFile = (image.files.keys.max() ?? 0) + 1
  }

  // MARK: Faults

  /// What is to fail from now on; nil for nothing. Counting begins anew.
  package func fail(_ fault: DiskFault?) { counter.set(fault) }

  /// Operations since `fail` was called that could have failed so.
  package func operations(_ kind: DiskFault.Kind) -> Int {
    kind == .full ? counter.takingRoom : counter.all
  }

  /// How many operations failed since `fail` was called.
  package var failures: Int { counter.failed }

  /// To be asked before each operation; not nil if it has to fail.
  func nextFault(takesRoom: Bool = false) -> DiskFault.Kind? { counter.next(takesRoom: takesRoom) }

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

  /// What a device that fails in the midst of a write leaves: the first half, in whole sectors.
  func writeHalf(_ bytes: UnsafeRawBufferPointer, to file: Int, at offset: Int, isScratch: Bool = false) {
    let half = bytes.count / 2 / FileContent.sectorSize * FileContent.sectorSize
    unsafe write(UnsafeRawBufferPointer(rebasing: bytes[..<half]), to: file, at: offset, isScratch: isScratch)
  }

  func resize(_ file: Int, to size: Int, isScratch: Bool = false) {
    if isScratch { image.files[file]?.resize(to: size) } else { perform(.resize(file: file, size: size)) }
  }

  package func makeDirectory(_ path: String) { image.directories.insert(path) }

  // MARK: Folders, from outside

  /// What is in the directory, by path: copies, which cost nothing until one of them is written to.
  package func contents(of directory: String) -> [String: FileContent] {
    let prefix = directory + "/"
    var contents: [String: FileContent] = [:]
    for (path, file) in image.names where path.hasPrefix(prefix) { contents[path] = image.files[file] }
    return contents
  }

  /// Puts other files into the directory, instead of those that are there. Nobody has one of them open.
  package func replaceContents(of directory: String, with contents: [String: FileContent]) {
    let prefix = directory + "/"
    for path in image.names.keys where path.hasPrefix(prefix) { image.names[path] = nil }
    // Those too that had lost their name before: nobody is in the midst of anything.
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

  /// Removes the directory and what is in it.
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

import PurchaseSQLite

/// Puts a salvaged file in the place of the damaged one, which is archived next to it. The newest two archived files
/// are kept.
///
/// A kill can follow every step. The salvaged file is complete once it has the name `-salvaged`; from then on the next
/// opening continues where this one stopped.
struct FileArchive {
  /// The queue's file.
  let path: String
  let disk: Disk

  private static let kept = 2

  /// The name of a salvage that is not complete.
  var building: String { path + "-salvage" }
  private var complete: String { path + "-salvaged" }

  /// Replaces the damaged file. The salvaged file has to be complete and synced.
  func replace(now: Timestamp) throws(FileError) {
    try disk.rename(building, to: complete)
    try disk.syncDirectory(of: path)
    try resume(now: now)
  }

  /// True if a complete salvaged file is about to replace the damaged one. Then the damaged file is a queue, whatever
  /// is left of it.
  func isBegun() throws(FileError) -> Bool {
    try disk.kind(of: complete) == .file
  }

  /// The file that holds the queue: between the two names of a replacement, the salvaged one.
  func current() throws(FileError) -> String {
    guard try disk.kind(of: path) == .absent, try isBegun() else { return path }
    return complete
  }

  /// Continues a replacement that was begun.
  func resume(now: Timestamp) throws(FileError) {
    guard try isBegun() else { return }
    let name = path + ".damaged-\(try number(now: now))"
    // The log first: a new file must never meet the log of the old one.
    for suffix in ["-wal", "-shm", ""] { try disk.rename(path + suffix, to: name + suffix) }
    try disk.syncDirectory(of: path)
    // Before the last step: a salvaged file must not be salvaged again for the damage of the old one.
    try clearMark()
    try disk.rename(complete, to: path)
    try disk.syncDirectory(of: path)
    prune()
  }

  /// The time, unless the clock went back: the newest file has the largest number. A replacement that was begun
  /// continues with its own number, so that file and log stay together.
  private func number(now: Timestamp) throws(FileError) -> Int64 {
    let newest = try numbers(suffix: "").last ?? .min
    let begun = try numbers(suffix: "-wal") + numbers(suffix: "-shm")
    if let unfinished = begun.max(), unfinished > newest { return unfinished }
    return max(now.milliseconds, newest + 1)
  }

  /// The archived files of a queue, oldest first.
  func files() throws(FileError) -> [String] {
    try numbers(suffix: "").map { path + ".damaged-\($0)" }
  }

  private func numbers(suffix: String) throws(FileError) -> [Int64] {
    let directory = Disk.parent(of: path) ?? "."
    let prefix = (path.split(separator: "/").last.map(String.init) ?? path) + ".damaged-"
    return try disk.names(in: directory)
      .filter { $0.hasPrefix(prefix) && $0.hasSuffix(suffix) }
      .compactMap { Int64($0.dropFirst(prefix.count).dropLast(suffix.count)) }
      // The next replacement takes the number after the highest one, so there must be one.
      .filter { $0 < .max }
      .sorted()
  }

  /// Removes the older files. The next replacement removes what a failure or a kill leaves, so the file itself goes last:
  /// its name is the one that is looked for.
  private func prune() {
    do throws(FileError) {
      for old in try files().dropLast(Self.kept) {
        for suffix in ["-wal", "-shm", ""] { try disk.unlink(old + suffix) }
      }
    } catch {
      return
    }
  }
}

// MARK: The damage mark

/// An empty file next to the queue's. It says that pages could not be read; the next opening salvages the queue.
extension FileArchive {
  private var mark: String { path + "-damage" }

  /// Sets the mark. A failure is ignored: the damage stays, and the caller gets the error of the damaged page.
  func markDamaged() {
    do throws(FileError) {
      try setMark()
    } catch {
      return
    }
  }

  func setMark() throws(FileError) { try disk.replace(mark, with: []) }

  func isMarkedDamaged() throws(FileError) -> Bool {
    try disk.kind(of: mark) != .absent
  }

  func clearMark() throws(FileError) { try disk.remove(mark) }
}

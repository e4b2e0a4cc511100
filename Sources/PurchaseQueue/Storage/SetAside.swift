import PurchaseSQLite

/// A file beside the queue's that says: pages of it could not be read. The next opening salvages it.
enum DamageMark {
  static func set(on path: String) {
    do throws(FileError) {
      try DurableFile.replace(name(path), with: [])
    } catch {
      // The damage is still there, and so is the error that the caller gets.
      return
    }
  }

  static func isSet(on path: String) throws(FileError) -> Bool {
    try DurableFile.kind(of: name(path)) != .absent
  }

  static func clear(_ path: String) throws(FileError) { try DurableFile.remove(name(path)) }

  private static func name(_ path: String) -> String { path + "-damage" }
}

/// Puts a salvaged file in the place of the damaged one, which is kept beside it: the newest two of them.
///
/// Every step can be the last one before a kill. The salvaged file is whole once it has the name that `resume` looks
/// for; from then on the next opening goes on where this one stopped.
enum SetAside {
  private static let kept = 2

  static func building(_ path: String) -> String { path + "-salvage" }
  private static func whole(_ path: String) -> String { path + "-salvaged" }

  /// The salvaged file is complete and synced.
  static func replace(_ path: String, now: Timestamp) throws(FileError) {
    try DurableFile.rename(building(path), to: whole(path))
    try DurableFile.syncDirectory(of: path)
    try resume(path, now: now)
  }

  /// True if a salvaged file waits to take the place of the damaged one: then that was ours, whatever is left of it.
  static func isBegun(_ path: String) throws(FileError) -> Bool {
    try DurableFile.kind(of: whole(path)) == .file
  }

  /// Goes on with a replacement that was begun.
  static func resume(_ path: String, now: Timestamp) throws(FileError) {
    guard try isBegun(path) else { return }
    let name = path + ".damaged-\(try number(path, now: now))"
    // The log first: a new file must never meet the log of the old one.
    for suffix in ["-wal", "-shm", ""] { try DurableFile.rename(path + suffix, to: name + suffix) }
    try DurableFile.syncDirectory(of: path)
    // Before the last step: a salvaged file must not be salvaged again for the damage of the old one.
    try DamageMark.clear(path)
    try DurableFile.rename(whole(path), to: path)
    try DurableFile.syncDirectory(of: path)
    try prune(path)
  }

  /// The time, unless the clock went back: the newest file has the largest number. One that was begun is finished
  /// under its own, so that file and log stay together.
  private static func number(_ path: String, now: Timestamp) throws(FileError) -> Int64 {
    let complete = try numbers(of: path, suffix: "")
    let begun = try numbers(of: path, suffix: "-wal") + numbers(of: path, suffix: "-shm")
    if let unfinished = begun.filter({ !complete.contains($0) }).max() { return unfinished }
    return max(now.milliseconds, (complete.max() ?? .min) + 1)
  }

  /// The set-aside files of a queue, oldest first.
  static func files(of path: String) throws(FileError) -> [String] {
    try numbers(of: path, suffix: "").map { path + ".damaged-\($0)" }
  }

  private static func numbers(of path: String, suffix: String) throws(FileError) -> [Int64] {
    let directory = DurableFile.parent(of: path) ?? "."
    let prefix = (path.split(separator: "/").last.map(String.init) ?? path) + ".damaged-"
    return try DurableFile.names(in: directory)
      .filter { $0.hasPrefix(prefix) && $0.hasSuffix(suffix) }
      .compactMap { Int64($0.dropFirst(prefix.count).dropLast(suffix.count)) }
      .sorted()
  }

  private static func prune(_ path: String) throws(FileError) {
    for old in try files(of: path).dropLast(kept) {
      for suffix in ["", "-wal", "-shm"] { DurableFile.discard(old + suffix) }
    }
  }
}

import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Where the files of runs are: below a folder that somebody wants to keep, or in one that is removed.
struct Scratch {
  let directory: String
  private let isKept: Bool

  init(keep: String?) throws {
    isKept = keep != nil
    let mine = "/\(Self.prefix)\(ProcessInfo.processInfo.processIdentifier)-" + UUID().uuidString
    directory = keep ?? Self.base + mine
    if keep == nil { Self.removeOrphans() }
    do {
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    } catch {
      throw ScratchError(description: "\(directory) cannot be made: \(error.localizedDescription)")
    }
  }

  private static let prefix = "purchase-simulator-"

  /// What processes left behind that were killed: theirs is nobody's any more.
  private static func removeOrphans() {
    guard let names = FileManager.default.enumerator(atPath: base) else { return }
    while let name = names.nextObject() as? String {
      names.skipDescendants()
      guard name.hasPrefix(prefix) else { continue }
      let owner = name.dropFirst(prefix.count).prefix { $0.isNumber }
      guard let number = pid_t(owner), name.dropFirst(prefix.count + owner.count).first == "-" else {
        continue
      }
      // Only asks whether there is such a process.
      if kill(number, 0) != 0, errno == ESRCH { remove(base + "/" + name) }
    }
  }

  /// Where TMPDIR says; else in memory, where there is such a place with room. What is killed here are processes, not
  /// the power: what they wrote is there all the same, and nobody waits for a disk.
  private static var base: String {
    let usual = FileManager.default.temporaryDirectory.path
    let memory = "/dev/shm"
    guard ProcessInfo.processInfo.environment["TMPDIR"] == nil,
      FileManager.default.isWritableFile(atPath: memory), room(at: memory) > 512 << 20
    else { return usual }
    return memory
  }

  private static func room(at path: String) -> Int64 {
    do {
      let attributes = try FileManager.default.attributesOfFileSystem(forPath: path)
      return (attributes[.systemFreeSize] as? NSNumber)?.int64Value ?? 0
    } catch {
      return 0
    }
  }

  /// The files of one run, as a new phone: those of an earlier run would be an earlier life.
  func device(_ name: String) throws -> Device {
    let path = directory + "/" + name
    if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
    return try Device(below: path)
  }

  /// One run's files are not needed any more.
  func drop(_ name: String) { if !isKept { Self.remove(directory + "/" + name) } }

  func end() { if !isKept { Self.remove(directory) } }

  /// The world's connection removes its own log while it closes, on another thread: a file that has gone in the
  /// meantime is no failure.
  private static func remove(_ directory: String) {
    for _ in 0..<100 where FileManager.default.fileExists(atPath: directory) {
      do {
        try FileManager.default.removeItem(atPath: directory)
      } catch CocoaError.fileNoSuchFile {
        continue
      } catch {
        Terminal.error("purchase-simulator: \(directory) could not be removed: \(error.localizedDescription)")
        return
      }
    }
  }
}

/// Why there is no place for files.
struct ScratchError: Error, Hashable, CustomStringConvertible {
  var description: String
}

import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The folder of the runs' files: one that the user wants to keep, or one that is removed at the end.
package struct Scratch {
  package let directory: String
  private let isKept: Bool

  package init(keep: String?) throws {
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

  /// Removes the folders of processes that were killed.
  private static func removeOrphans() {
    guard let names = FileManager.default.enumerator(atPath: base) else { return }
    while let name = names.nextObject() as? String {
      names.skipDescendants()
      guard name.hasPrefix(prefix) else { continue }
      let owner = name.dropFirst(prefix.count).prefix { $0.isNumber }
      guard let number = pid_t(owner), name.dropFirst(prefix.count + owner.count).first == "-" else {
        continue
      }
      // Signal 0 only asks whether there is such a process.
      if kill(number, 0) != 0, errno == ESRCH { remove(base + "/" + name) }
    }
  }

  /// TMPDIR; without it a file system in memory, if it has space. Only processes are killed here, and power is never cut:
  /// written data survives, and no run waits for a disk.
  private static var base: String {
    let usual = FileManager.default.temporaryDirectory.path
    let memory = "/dev/shm"
    guard ProcessInfo.processInfo.environment["TMPDIR"] == nil,
      FileManager.default.isWritableFile(atPath: memory), freeBytes(at: memory) > 512 << 20
    else { return usual }
    return memory
  }

  private static func freeBytes(at path: String) -> Int64 {
    do {
      let attributes = try FileManager.default.attributesOfFileSystem(forPath: path)
      return (attributes[.systemFreeSize] as? NSNumber)?.int64Value ?? 0
    } catch {
      return 0
    }
  }

  /// The path of one run's files, where nothing is: files of an earlier run would be those of a used phone.
  package func empty(_ name: String) throws -> String {
    let path = directory + "/" + name
    if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
    return path
  }

  /// Removes the files of one run, unless they are kept.
  package func drop(_ name: String) { if !isKept { Self.remove(directory + "/" + name) } }

  package func end() { if !isKept { Self.remove(directory) } }

  /// The mock server's database connection removes its log file while it closes, on another thread. A file that
  /// disappears in the meantime is no failure.
  private static func remove(_ directory: String) {
    for _ in 0..<100 where FileManager.default.fileExists(atPath: directory) {
      do {
        try FileManager.default.removeItem(atPath: directory)
      } catch CocoaError.fileNoSuchFile {
        continue
      } catch {
        Terminal.complain("\(directory) could not be removed: \(error.localizedDescription)")
        return
      }
    }
  }
}

/// Why the folder could not be made.
package struct ScratchError: Error, Hashable, CustomStringConvertible {
  package var description: String
}

import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Where the files of a bench are: a directory of its own, removed at the end.
struct Workbench {
  let path: String

  /// A new directory below an existing one, under a name that no other process uses.
  init(below parent: String, name: String) throws {
    let identifier = ProcessInfo.processInfo.processIdentifier
    path = URL(fileURLWithPath: parent).resolvingSymlinksInPath().path + "/\(name)-\(identifier)"
    guard unsafe mkdir(path, 0o700) == 0 else { throw BenchError.lastCall("mkdir", path) }
  }

  /// A new directory for one run; `body` gets its path. The files go when it ends, also when it throws.
  func scratch<R>(_ body: (String) throws -> R) throws -> R {
    let directory = try fresh()
    let result = Result { try body(directory) }
    try FileManager.default.removeItem(atPath: directory)
    return try result.get()
  }

  /// A new directory that stays until the workbench goes.
  func fresh() throws -> String {
    let directory = path + "/" + UUID().uuidString
    guard unsafe mkdir(directory, 0o700) == 0 else { throw BenchError.lastCall("mkdir", directory) }
    return directory
  }

  /// One that cannot be removed is told of: nothing stays behind unsaid.
  func removeOrSay() {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      Terminal.error("purchase-simulator: \(path) could not be removed: \(error.localizedDescription)")
    }
  }

  /// The system's directory in memory, where there is one.
  static let memory: String? = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : nil
}

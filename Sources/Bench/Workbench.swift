import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The directory with the files of a bench, removed at the end.
struct Workbench {
  let path: String
  /// Starts the child processes of the bench.
  let child: BenchChild

  /// A new directory below an existing one, under a name that no other process uses.
  init(below parent: String, name: String, _ child: BenchChild) throws {
    let identifier = ProcessInfo.processInfo.processIdentifier
    self.child = child
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

  /// Removes the directory. Says on standard error if it stays behind.
  func remove() {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      let message = "purchase-lab: \(path) could not be removed: \(error.localizedDescription)\n"
      FileHandle.standardError.write(Data(message.utf8))
    }
  }

  /// The system's directory in memory, where there is one.
  static let memory: String? = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : nil
}

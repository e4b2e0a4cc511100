import Foundation
import PurchaseSQLite

/// What is at the path of a mock server's file. Found out by reading bytes: a file that is refused does not change.
enum BackendFile {
  /// Marks the file's header, so that no other program's database is taken for one of ours: "PSMB".
  static let applicationID: UInt32 = 0x5053_4D42

  /// Makes a new file for the owner alone, or restricts a file of ours to the owner. Throws for every other file.
  static func prepare(_ path: String) throws(BackendStoreError) {
    let hasPlace = try BackendStoreError.wrap { () throws(FileError) in try isFree(path) }
    guard hasPlace else {
      throw BackendStoreError(foreign: path, "there is a log beside it that is not ours")
    }
    switch try BackendStoreError.wrap({ () throws(FileError) in try DatabaseProbe.inspect(path: path) }) {
    case .absent: break
    case .unwritten: try checkUnwritten(path)
    case .database(let id, let version): try check(id, Int64(version), path)
    case .notADatabase: throw BackendStoreError(foreign: path, "it is no SQLite database")
    case .directory: throw BackendStoreError(foreign: path, "it is a directory")
    }
    try BackendStoreError.wrap { () throws(FileError) in
      try Disk.system.createForOwner(path)
      for suffix in ["-wal", "-shm"] where try Disk.system.kind(of: path + suffix) == .file {
        do throws(FileError) {
          try Disk.system.files.restrictToOwner(path + suffix)
        } catch {
          // The connection of a server that has just stopped removes them when it closes, at this moment perhaps.
          guard error.errno == ENOENT else { throw error }
        }
      }
    }
  }

  private static func check(_ id: UInt32, _ version: Int64, _ path: String) throws(BackendStoreError) {
    if id == applicationID, version == BackendTables.version { return }
    // Files of the first versions have no mark.
    guard id == applicationID || id == 0 && (1..<BackendTables.version).contains(version) else {
      throw BackendStoreError(foreign: path, "it is a database of another program")
    }
    throw BackendStoreError(version: version, at: path)
  }

  /// False if there is no file but a log: SQLite would remove the log.
  private static func isFree(_ path: String) throws(FileError) -> Bool {
    if try Disk.system.size(of: path) > 0 { return true }
    return try Disk.system.size(of: path + "-wal") == 0
  }

  /// A file whose tables are in its log only: ours after a kill right after the first start, or another program's.
  private static func checkUnwritten(_ path: String) throws(BackendStoreError) {
    let id: UInt32
    let version: Int64
    do throws(SQLiteError) {
      let connection = try Connection(path: path, access: .readWrite)
      connection.leaveUntouchedOnClose()
      id = UInt32(truncatingIfNeeded: try connection.applicationID)
      version = try connection.userVersion
      let tables = try connection.prepare("SELECT count(*) FROM sqlite_master").first { $0.integer(0) }
      if id == 0, version == 0, tables == 0 { return }
    } catch {
      throw BackendStoreError(error)
    }
    try check(id, version, path)
  }
}

/// The right of one server to a file. It ends with this value and with the process.
///
/// A lock on a file of its own next to the database, `FILE-lock`, which stays: SQLite's own locks are held for a moment
/// only, and a second server would grant what the first one has granted.
final class ServerLease: Sendable {
  private let lock: AdvisoryLock

  /// Throws if another server has the file, of this process or of another one.
  init(path: String) throws(BackendStoreError) {
    // Another name of a file leads to the same lock.
    let file = URL(fileURLWithPath: path).resolvingSymlinksInPath()
    guard Self.hasOneName(file) else {
      throw BackendStoreError(
        foreign: path, "it has a second name (a hard link), which could have a server too")
    }
    let isHeld: Bool
    do throws(FileError) {
      lock = try AdvisoryLock(path: file.path + "-lock")
      isHeld = try lock.tryLock()
    } catch {
      throw BackendStoreError(error)
    }
    guard isHeld else { throw BackendStoreError(served: path) }
  }
  /// True also for a file that cannot be looked at: opening it says what is wrong.
  private static func hasOneName(_ file: URL) -> Bool {
    do {
      let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
      return (attributes[.referenceCount] as? Int ?? 1) < 2
    } catch {
      return true
    }
  }
}

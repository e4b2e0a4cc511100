#if os(Linux)
  import Foundation

  /// The locks that the system lists for the files of a queue, of any process.
  public enum FileLocks {
    /// The lines of `/proc/locks` about the file and its companions.
    ///
    /// The list is read to its end: `String(contentsOfFile:)` cuts a file that says it has no bytes after 4 KiB, which
    /// are some 70 locks.
    public static func lines(of path: String) throws -> [String] {
      let inodes = try ["", "-wal", "-shm", "-lock", "-turn"].compactMap { suffix -> String? in
        guard FileManager.default.fileExists(atPath: path + suffix) else { return nil }
        let attributes = try FileManager.default.attributesOfItem(atPath: path + suffix)
        return (attributes[.systemFileNumber] as? Int).map { ":\($0) " }
      }
      let list = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/locks")).readToEnd() ?? Data()
      return String(decoding: list, as: UTF8.self).split(separator: "\n")
        .filter { line in inodes.contains { line.contains($0) } }.map(String.init)
    }
  }
#endif

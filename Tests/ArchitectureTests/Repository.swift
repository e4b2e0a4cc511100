import Foundation

/// The files of the package that these tests belong to.
enum Repository {
  /// The folder of Package.swift.
  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The paths, below the root, of all files that are under version control or would be added to it.
  static let paths: [String] = {
    (gitPaths() ?? directoryPaths()).filter { FileManager.default.fileExists(atPath: absolute($0)) }.sorted()
  }()

  /// The manifest of the package and of the package that embeds it.
  static let manifests = paths.filter { $0.split(separator: "/").last == "Package.swift" }

  static let swiftFiles: [SourceText] =
    paths
    .filter { $0.hasSuffix(".swift") }
    .compactMap { path in read(path).map { SourceText(path: path, $0) } }

  static func read(_ path: String) -> String? {
    FileManager.default.contents(atPath: absolute(path)).map { String(decoding: $0, as: UTF8.self) }
  }

  private static func absolute(_ path: String) -> String { root.path + "/" + path }

  /// nil without git, and where git refuses: in a checkout of another owner, or in an unpacked archive.
  private static func gitPaths() -> [String]? {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "git", "-C", root.path, "ls-files", "-z", "--cached", "--others", "--exclude-standard",
    ]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    do {
      #if os(Linux)
        // See `Process.begin` of the simulator for the reason.
        _ = Data(count: 1 << 16)
      #endif
      try process.run()
    } catch {
      return nil
    }
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0, !data.isEmpty else { return nil }
    return data.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }

  private static func directoryPaths() -> [String] {
    guard let enumerator = FileManager.default.enumerator(atPath: root.path) else { return [] }
    var paths: [String] = []
    while let path = enumerator.nextObject() as? String {
      let name = path.split(separator: "/").last ?? ""
      if name.hasPrefix(".build") || name == ".git" || name == ".swiftpm" {
        enumerator.skipDescendants()
      } else if name != "Package.resolved" {
        paths.append(path)
      }
    }
    return paths
  }
}

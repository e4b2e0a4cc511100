import Foundation
package import PurchaseQueue

/// What Apple's systems know of the queue's files.
package struct FileMarks: Sendable {
  /// Sets one mark on a file or a folder.
  package typealias Mark = @Sendable (_ path: String) throws -> Void

  /// Makes a file readable from the first unlock after a start of the device on, also while it is locked again.
  package var protect: Mark?
  /// Keeps a file out of the system's backups.
  package var exclude: Mark?

  /// Without a mark, nothing is set.
  package init(protect: Mark? = nil, exclude: Mark? = nil) {
    self.protect = protect
    self.exclude = exclude
  }

  /// The marks that this system has: both on iOS and its kin; on macOS, whose disk is locked as a whole, only that for
  /// backups.
  package static let system: FileMarks = {
    #if !canImport(Darwin)
      FileMarks()
    #elseif os(macOS)
      FileMarks(exclude: setExclusion)
    #else
      FileMarks(protect: setProtection, exclude: setExclusion)
    #endif
  }()

  /// With the class "complete", the engine could not work while the device is locked: not after a purchase that was
  /// approved in between, and not in a background task.
  package static let setProtection: Mark = { path in
    try FileManager.default.setAttributes(
      [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication], ofItemAtPath: path)
  }

  /// On another phone, a file from a backup would bring the entries, and the identity, of this one. What is unfinished
  /// comes from the store there.
  package static let setExclusion: Mark = { path in
    var url = URL(fileURLWithPath: path)
    var values = URLResourceValues()
    values.isExcludedFromBackup = true
    try url.setResourceValues(values)
  }

  /// Marks a new folder, before a file is in it: each file that is made there gets its protection. It is not excluded
  /// from backups, because the app may keep other files in it.
  package func markFolder(_ folder: String) -> [Diagnostic] {
    protect.map { Self.set([$0], on: folder) } ?? []
  }

  /// Marks the queue's file and all that lie next to it under its name: log, lock, archives. After each opening,
  /// because some are made again each time. Returns what failed; the queue works without.
  package func markFiles(of path: String) -> [Diagnostic] {
    let marks = [protect, exclude].compactMap(\.self)
    guard !marks.isEmpty else { return [] }
    let file = URL(fileURLWithPath: path)
    let folder = file.deletingLastPathComponent().path
    do {
      return try FileManager.default.contentsOfDirectory(atPath: folder)
        .filter { $0.hasPrefix(file.lastPathComponent) }.sorted()
        .flatMap { Self.set(marks, on: folder + "/" + $0) }
    } catch {
      return [Diagnostic(.maintenance, path, error)]
    }
  }

  private static func set(_ marks: [Mark], on path: String) -> [Diagnostic] {
    marks.compactMap { mark in
      do {
        try mark(path)
        return nil
      } catch {
        // SQLite removes its log when another process closes the file.
        return FileManager.default.fileExists(atPath: path) ? Diagnostic(.maintenance, path, error) : nil
      }
    }
  }
}

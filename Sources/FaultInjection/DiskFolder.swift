import Foundation
package import PurchaseQueue
package import PurchaseSQLite

/// The folder of a phone's files, and its backup.
package protocol DiskFolder: AnyObject {
  var path: String { get }
  /// Opens the files of this folder.
  var files: Disk { get }
  /// Every file by its path; nil where copies would cost too much.
  var contents: [String: FileContent]? { get }
  /// Puts the files there, and no others. None may be open.
  func replaceContents(with contents: [String: FileContent])
  /// Restores the files after `body`, if the folder can: a killed process does not tidy up.
  func undoing(_ body: () -> Void)
  /// Removes every file. None may be open.
  func wipe() throws(QueueError)
  /// Keeps a copy of every file and drops the former copy.
  func takeImage() throws(QueueError)
  /// Replaces the files by the copy; false if there is none.
  func restoreImage() throws(QueueError) -> Bool
  /// Removes all of it.
  func remove()
}

/// A folder on the disk in memory of this thread (`FaultVFS`).
package final class FaultFolder: DiskFolder {
  package let path: String
  package var files: Disk { .inMemory }
  private let disk: FaultDisk
  private var image: [String: FileContent]?

  package init() {
    path = DiskImage.root + "/" + String(FaultThread.current.takeFolder())
    disk = FaultVFS.disk
    disk.makeDirectory(path)
  }

  package func undoing(_ body: () -> Void) {
    let contents = disk.contents(of: path)
    body()
    disk.replaceContents(of: path, with: contents)
  }

  package var contents: [String: FileContent]? { disk.contents(of: path) }

  package func replaceContents(with contents: [String: FileContent]) {
    disk.replaceContents(of: path, with: contents)
  }

  package func wipe() { disk.replaceContents(of: path, with: [:]) }
  package func takeImage() { image = disk.contents(of: path) }

  package func restoreImage() -> Bool {
    guard let image else { return false }
    disk.replaceContents(of: path, with: image)
    return true
  }

  package func remove() { disk.removeDirectory(path) }
}

/// A folder of the system. A killed process still closes its files here.
package final class SystemFolder: DiskFolder {
  package let path: String
  package var files: Disk { .system }

  package init(_ path: String) throws(QueueError) {
    self.path = path
    try work { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
  }

  package var contents: [String: FileContent]? { nil }
  package func replaceContents(with contents: [String: FileContent]) {}
  package func undoing(_ body: () -> Void) { body() }

  package func wipe() throws(QueueError) {
    try work {
      for name in try names(in: path) { try FileManager.default.removeItem(atPath: path + "/" + name) }
    }
  }

  package func takeImage() throws(QueueError) {
    try work {
      try removeImage()
      try FileManager.default.createDirectory(atPath: image, withIntermediateDirectories: true)
      for name in try names(in: path) {
        try FileManager.default.copyItem(atPath: path + "/" + name, toPath: image + "/" + name)
      }
    }
  }

  package func restoreImage() throws(QueueError) -> Bool {
    guard FileManager.default.fileExists(atPath: image) else { return false }
    try wipe()
    try work {
      for name in try names(in: image) {
        try FileManager.default.copyItem(atPath: image + "/" + name, toPath: path + "/" + name)
      }
    }
    return true
  }

  package func remove() {
    do {
      try removeImage()
      try FileManager.default.removeItem(atPath: path)
    } catch {
      return  // The directory is in memory: a restart of the computer removes it.
    }
  }

  private var image: String { path + "-image" }

  private func removeImage() throws {
    if FileManager.default.fileExists(atPath: image) { try FileManager.default.removeItem(atPath: image) }
  }

  private func names(in directory: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
  }

  private func work(_ body: () throws -> Void) throws(QueueError) {
    do {
      try body()
    } catch {
      throw .storage(path: path, reason: error.localizedDescription)
    }
  }
}

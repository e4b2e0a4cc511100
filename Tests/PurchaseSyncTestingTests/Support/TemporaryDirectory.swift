import Foundation

/// A directory that is removed with its owner.
final class TemporaryDirectory: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "fixture-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    do {
      try FileManager.default.removeItem(at: url)
    } catch {
      print("left behind: \(url.path): \(error)")
    }
  }

  func path(_ name: String) -> String { url.appending(path: name).path }
}

public import Foundation

/// A directory that is removed with its owner.
public final class TemporaryDirectory: Sendable {
  /// Where it is.
  public let url: URL

  /// Makes it in the folder for temporary files.
  public init() throws {
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

  /// The path of a file in it.
  public func path(_ name: String) -> String { url.appending(path: name).path }

  /// A folder for the time of `body`. Throws if it cannot be removed then.
  public static func with<Value>(_ name: String, _ body: (String) throws -> Value) throws -> Value {
    let path = FileManager.default.temporaryDirectory.path + "/\(name)-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let result = Result { try body(path) }
    try FileManager.default.removeItem(atPath: path)
    return try result.get()
  }
}

import BackendConformance
import CommandLineTools
import CommandTestSupport
import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import purchase_simulator

/// A mock server: in this process, or by the real binary.
enum Served {
  /// A mock server for the time of a test, and the folder of its files.
  static func world<Value>(
    broken: BrokenBackend? = nil, times: Int = 1,
    _ body: (MockServer, ConformanceLab, String) async throws -> Value
  ) async throws -> [Value] {
    let directory = FileManager.default.temporaryDirectory.path + "/Served-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer {
      do {
        try FileManager.default.removeItem(atPath: directory)
      } catch CocoaError.fileNoSuchFile {
        // A browser that is still ending removes its own files. The system removes the rest.
      } catch {
        Issue.record(error, "the temporary directory stays behind")
      }
    }
    var values: [Value] = []
    for _ in 0..<times {
      let server = try MockServer(
        databasePath: directory + "/backend.sqlite", products: ServeCommand.products,
        bundleID: ServeCommand.bundleID, broken: broken?.hooks, now: Timestamp.wallClock)
      try server.start()
      defer { server.stop() }
      var options = ConformanceOptions()
      options.backend = server.baseURL.absoluteString
      values.append(try await body(server, try ConformanceLab(options), directory))
    }
    return values
  }

  /// A child process that serves, and its URL without a slash at the end.
  static func start(_ options: [String] = []) throws -> (process: Process, base: String) {
    let process = Process()
    let output = Pipe()
    process.executableURL = Program.simulator.binary
    process.arguments = ["serve", "--port", "0"] + options
    process.standardOutput = output
    try process.begin()
    var text = ""
    while !text.contains("Ctrl-C") {
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { break }
      text += String(decoding: data, as: UTF8.self)
    }
    let words = text.split(whereSeparator: { $0 == " " || $0 == "\n" }).map(String.init)
    let page = try #require(words.first { $0.hasPrefix("http://127.0.0.1:") && $0.hasSuffix("/") })
    return (process, String(page.dropLast()))
  }
}

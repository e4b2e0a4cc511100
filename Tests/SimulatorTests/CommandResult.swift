import Foundation
import Testing

@testable import purchase_simulator

/// The result of running the binary of `purchase-simulator`.
struct CommandResult {
  var status: Int32
  var output: String
  var errors: String

  /// Runs it to its end, with `input` on its standard input.
  init(of arguments: [String], input: Data = Data()) throws {
    let process = Process()
    let (output, errors, source) = (Pipe(), Pipe(), Pipe())
    process.executableURL = RunTests.binary
    process.arguments = arguments
    process.standardOutput = output
    process.standardError = errors
    process.standardInput = source
    try process.begin()
    try source.fileHandleForWriting.write(contentsOf: input)
    try source.fileHandleForWriting.close()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    let complaints = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    status = process.terminationStatus
    self.output = String(decoding: text, as: UTF8.self)
    self.errors = String(decoding: complaints, as: UTF8.self)
  }
}

/// A folder for one test, removed after it.
enum TemporaryDirectory {
  static func with<Value>(_ name: String, _ body: (String) throws -> Value) throws -> Value {
    let path = FileManager.default.temporaryDirectory.path + "/\(name)-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer {
      do {
        try FileManager.default.removeItem(atPath: path)
      } catch {
        Issue.record(error, "the temporary directory stays behind")
      }
    }
    return try body(path)
  }
}

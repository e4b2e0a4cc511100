import Foundation

/// This binary again, as `bench-load`, to be looked at from outside.
enum BenchChild {
  /// Runs it to its end and returns what it printed.
  @discardableResult
  static func load(_ arguments: [String], under wrapper: [String] = []) throws -> String {
    let command = wrapper + [ChildProcess.executable.path, "bench-load"] + arguments
    let result = try run(command)
    guard result.status == 0 else {
      throw BenchError.child(arguments: command, status: result.status, complaint: result.complaint)
    }
    return result.output
  }

  static func run(_ command: [String]) throws -> (status: Int32, output: String, complaint: String) {
    let process = Process()
    let (output, complaint) = (Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: command[0])
    process.arguments = Array(command.dropFirst())
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = complaint
    try process.run()
    // Both are a few lines, which a pipe holds: reading one after the other cannot block the child.
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let error = String(decoding: complaint.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text, error.trimmingCharacters(in: .whitespacesAndNewlines))
  }

  /// A program on the search path.
  static func find(_ program: String) -> String? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    return path.split(separator: ":").map { "\($0)/\(program)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }
}

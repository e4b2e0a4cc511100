import Foundation

/// This binary again, as `bench-load`, to be looked at from outside.
enum BenchChild {
  /// Runs it to its end and returns what it printed.
  @discardableResult
  static func load(_ arguments: [String], under wrapper: [String] = []) throws -> String {
    let command = wrapper + [ChildProcess.executable.path, "bench-load"] + arguments
    let result = try ChildOutput(command: command)
    guard result.status == 0 else {
      throw BenchError.child(arguments: command, status: result.status, complaint: result.complaint)
    }
    return result.output
  }

  /// A program on the search path.
  static func find(_ program: String) -> String? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    return path.split(separator: ":").map { "\($0)/\(program)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }
}

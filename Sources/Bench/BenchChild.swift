import Foundation

/// Starts child processes for a bench: this program as one of its hidden commands, or any other program.
package struct BenchChild: Sendable {
  /// How a child ended.
  package struct Ended: Sendable {
    package var status: Int32
    package var output: String
    package var complaint: String

    package init(status: Int32, output: String, complaint: String) {
      (self.status, self.output, self.complaint) = (status, output, complaint)
    }
  }

  /// The path of this program.
  let executable: String
  /// Runs a command to its end. Its path comes first.
  let run: @Sendable ([String]) throws -> Ended

  package init(executable: String, run: @escaping @Sendable ([String]) throws -> Ended) {
    (self.executable, self.run) = (executable, run)
  }

  /// Runs a hidden command to its end, and returns its output.
  @discardableResult
  func load(
    _ arguments: [String], command: String = "bench-load", under wrapper: [String] = []
  ) throws -> String {
    let command = wrapper + [executable, command] + arguments
    let ended = try run(command)
    guard ended.status == 0 else {
      throw BenchError.child(arguments: command, status: ended.status, complaint: ended.complaint)
    }
    return ended.output
  }

  /// The same for a command that prints kilobytes; nil where the system does not say how much memory it uses.
  func kilobytes(_ arguments: [String], command: String = "bench-load") throws -> Double? {
    Double(try load(arguments, command: command).filter { !$0.isWhitespace })
  }

  /// The path of a program on the search path.
  static func find(_ program: String) -> String? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    return path.split(separator: ":").map { "\($0)/\(program)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }
}

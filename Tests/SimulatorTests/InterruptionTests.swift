import CommandLineTools
import CommandTestSupport
import Foundation
import TestSupport
import Testing

@testable import purchase_simulator

/// Ctrl-C, and other requests to end.
@Suite struct InterruptionTests {
  /// A run that takes a while.
  private static let long = ["run", "--all", "--jobs", "1"]

  /// Reads until two scenarios are done.
  private func read(_ output: Pipe) -> String {
    var text = ""
    while !text.contains("backend-outage ") {
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { break }
      text += String(decoding: data, as: UTF8.self)
    }
    return text
  }

  @Test(arguments: [(SIGINT, Int32(130)), (SIGTERM, Int32(143))])
  func `an interruption shows the finished results and leaves no files`(signal: Int32, code: Int32) throws {
    try TemporaryDirectory.with("Interruption") { directory in
      let (process, output) = try Program.simulator.start(Self.long, in: directory)
      var text = read(output)
      kill(process.processIdentifier, signal)
      text += String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      #expect(process.terminationStatus == code)
      #expect(text.contains("of runs"), "the summary of what was run")
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
    }
  }

  @Test func `children end when their parent is killed`() throws {
    try TemporaryDirectory.with("Killed") { directory in
      let (process, output) = try Program.simulator.start(Self.long, in: directory)
      _ = read(output)
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      // The children hold the other end of this pipe, or one like it: it ends when the last of them has.
      _ = output.fileHandleForReading.readDataToEndOfFile()
      #expect(process.terminationReason == .uncaughtSignal)
      let left = Processes.commandLines.filter { $0.contains(directory) }
      #expect(left == [])
    }
  }
}

/// The processes of this machine.
private enum Processes {
  /// The command lines of all processes; none without /proc. Read again for a while, since a process that was asked to
  /// end needs a moment.
  static var commandLines: [String] {
    var lines: [String] = []
    for _ in 0..<200 {
      lines = []
      for name in (FileManager.default.subpaths(in: "/proc")) where Int(name) != nil {
        guard let data = FileManager.default.contents(atPath: "/proc/\(name)/cmdline") else { continue }
        lines.append(String(decoding: data, as: UTF8.self).replacingOccurrences(of: "\0", with: " "))
      }
      if !lines.contains(where: { $0.contains(" app ") || $0.contains("--container") }) { break }
    }
    return lines
  }
}

extension FileManager {
  /// The names in a folder; none if there is no such folder.
  fileprivate func subpaths(in path: String) -> [String] {
    do {
      return try contentsOfDirectory(atPath: path)
    } catch {
      return []
    }
  }
}

/// Runs that lack what they need.
@Suite struct ResourceTests {
  @Test(arguments: [["run", "purchase"], ["compare", "purchase"], ["crash-matrix", "--hits", "1"]])
  func `a lack of space for files is reported, and breaks no promise`(arguments: [String]) throws {
    let process = Process()
    let errors = Pipe()
    process.executableURL = Program.simulator.binary
    process.arguments = arguments
    process.environment = ["TMPDIR": "/dev/null/nowhere"]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = errors
    try process.begin()
    let errorText = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 70)
    #expect(errorText.contains("/dev/null/nowhere") && errorText.contains("cannot be made"), "\(errorText)")
  }

  @Test func `a report that cannot be written is reported`() throws {
    let result = try CommandResult(of: ["run", "purchase", "--report", "/dev/null/report.html"])
    #expect(result.status == 70 && result.errors.contains("could not be written"))
  }
}

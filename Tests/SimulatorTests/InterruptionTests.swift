import Foundation
import Testing

@testable import purchase_simulator

/// Ctrl-C, and other requests to end.
@Suite struct InterruptionTests {
  /// A run that takes a while, with its temporary files in a folder of the test.
  private func start(
    in directory: String, _ arguments: [String] = ["run", "--all", "--jobs", "1"]
  ) throws -> (Process, Pipe) {
    let process = Process()
    let output = Pipe()
    process.executableURL = RunTests.binary
    process.arguments = arguments
    var environment = ProcessInfo.processInfo.environment
    environment["TMPDIR"] = directory
    process.environment = environment
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.begin()
    return (process, output)
  }

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
      let (process, output) = try start(in: directory)
      var text = read(output)
      kill(process.processIdentifier, signal)
      text += String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      #expect(process.terminationStatus == code)
      #expect(text.contains("of runs"), "the summary of what was run")
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
    }
  }

  @Test(arguments: [["--minutes", "60"], ["--seeds", "100000000"]])
  func `an interrupted exploration shows its results`(length: [String]) throws {
    let process = Process()
    let output = Pipe()
    process.executableURL = RunTests.binary
    process.arguments = ["explore", "--jobs", "2"] + length
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.begin()
    // The command handles signals from its first line on.
    var text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    #expect(text.hasPrefix("profile swarm on memory, "))
    kill(process.processIdentifier, SIGINT)
    text += String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 130)
    #expect(text.contains("no invariant was broken"))
  }

  /// Starts a command, and sends the signal as soon as it has files. Returns how it ended, and the files it left.
  private func end(
    _ arguments: [String], in directory: String, with signal: Int32
  ) throws -> (status: Int32, reason: Process.TerminationReason, left: [String]) {
    let (process, output) = try start(in: directory, arguments)
    while process.isRunning, try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty {
      sched_yield()
    }
    kill(process.processIdentifier, signal)
    _ = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let left = try FileManager.default.contentsOfDirectory(atPath: directory)
    return (process.terminationStatus, process.terminationReason, left)
  }

  /// A short run may be over before the signal comes: then the next seed is tried.
  @Test(
    arguments: [["replay", "--engine", "--seed"], ["explore", "--engine", "--seeds", "500", "--from"]],
    [(SIGINT, Int32(130)), (SIGTERM, Int32(143))])
  func `interrupted engine simulations leave no files`(
    command: [String], signal: (number: Int32, code: Int32)
  ) throws {
    try TemporaryDirectory.with("Engine") { directory in
      for seed in 1...50 {
        let end = try end(command + ["\(seed)"], in: directory, with: signal.number)
        #expect(end.left == [])
        if end.status == signal.code { return }
        #expect(end.status == 0)
      }
      Issue.record("no run was interrupted")
    }
  }

  @Test func `the next engine simulation removes the files of a killed one`() throws {
    try TemporaryDirectory.with("Engine") { directory in
      var left: [String] = []
      for seed in 1...50 where left.isEmpty {
        left = try end(["replay", "--engine", "--seed", "\(seed)"], in: directory, with: SIGKILL).left
      }
      #expect(left.count == 1 && left[0].hasPrefix("purchase-simulator-"))
      let (process, output) = try start(in: directory, ["replay", "--engine"])
      _ = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
    }
  }

  @Test func `children end when their parent is killed`() throws {
    try TemporaryDirectory.with("Killed") { directory in
      let (process, output) = try start(in: directory)
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
    process.executableURL = RunTests.binary
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

import Foundation
import Testing

@testable import purchase_simulator

/// Somebody presses Ctrl-C, or the terminal goes away.
@Suite(.timeLimit(.minutes(4))) struct InterruptionTests {
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

  /// Reads until two scenarios are through.
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
  func `an interruption shows what is there and leaves nothing behind`(signal: Int32, code: Int32) throws {
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
  func `an exploration that somebody ends shows what it has seen`(length: [String]) throws {
    let process = Process()
    let output = Pipe()
    process.executableURL = RunTests.binary
    process.arguments = ["explore", "--jobs", "2"] + length
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.begin()
    // From its first line on it listens.
    var text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    #expect(text.hasPrefix("profile swarm on memory, "))
    kill(process.processIdentifier, SIGINT)
    text += String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 130)
    #expect(text.contains("no invariant was broken"))
  }

  /// Starts it, and sends the signal as soon as it has files. Returns how it ended, and what it left behind.
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

  /// A short life may be over before the signal comes: then it is another one's turn.
  @Test(
    arguments: [["replay", "--shell", "--seed"], ["explore", "--shell", "--seeds", "500", "--from"]],
    [(SIGINT, Int32(130)), (SIGTERM, Int32(143))])
  func `lives of the shell leave nothing behind when somebody ends them`(
    command: [String], signal: (number: Int32, code: Int32)
  ) throws {
    try TemporaryDirectory.with("Shell") { directory in
      for seed in 1...50 {
        let end = try end(command + ["\(seed)"], in: directory, with: signal.number)
        #expect(end.left == [])
        if end.status == signal.code { return }
        #expect(end.status == 0)
      }
      Issue.record("no life was ended")
    }
  }

  @Test func `what a killed life of the shell leaves behind goes with the next one`() throws {
    try TemporaryDirectory.with("Shell") { directory in
      var left: [String] = []
      for seed in 1...50 where left.isEmpty {
        left = try end(["replay", "--shell", "--seed", "\(seed)"], in: directory, with: SIGKILL).left
      }
      #expect(left.count == 1 && left[0].hasPrefix("purchase-simulator-"))
      let (process, output) = try start(in: directory, ["replay", "--shell"])
      _ = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
    }
  }

  @Test func `children end when the one that started them is killed`() throws {
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

/// What runs on this machine.
private enum Processes {
  /// The command lines of all processes; none where there is no /proc. Asked again for a while: a process that was told
  /// to end needs a moment.
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

/// What a run needs and does not get.
@Suite struct ResourceTests {
  @Test(arguments: [["run", "purchase"], ["compare", "purchase"], ["crash-matrix", "--hits", "1"]])
  func `no room for files is said, and is nobody's broken promise`(arguments: [String]) throws {
    let process = Process()
    let errors = Pipe()
    process.executableURL = RunTests.binary
    process.arguments = arguments
    process.environment = ["TMPDIR": "/dev/null/nowhere"]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = errors
    try process.begin()
    let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 70)
    #expect(said.contains("/dev/null/nowhere") && said.contains("cannot be made"), "\(said)")
  }

  @Test func `a report that cannot be written is said`() throws {
    let result = try CommandResult(of: ["run", "purchase", "--report", "/dev/null/report.html"])
    #expect(result.status == 70 && result.errors.contains("could not be written"))
  }
}

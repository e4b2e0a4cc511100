import CommandLineTools
import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// Ctrl-C, and other requests to end, during simulations.
@Suite struct LabInterruptionTests {
  @Test(arguments: [["--seconds", "3600"], ["--seeds", "100000000"]])
  func `an interrupted exploration shows its results`(length: [String]) throws {
    let process = Process()
    let output = Pipe()
    process.executableURL = Program.lab.binary
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
    let (process, output) = try Program.lab.start(arguments, in: directory)
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
      let (process, output) = try Program.lab.start(["replay", "--engine"], in: directory)
      _ = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
    }
  }
}

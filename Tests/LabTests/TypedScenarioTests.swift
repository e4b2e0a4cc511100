import CommandLineTools
import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// The command that plays a failing run with real processes.
@Suite struct TypedScenarioTests {
  @Test(arguments: LongTests.some(["it's $HOME", "my files", "-files", "plain"], every: 4))
  func `the printed line plays the scenario file, wherever the file is`(name: String) throws {
    try TemporaryDirectory.with("Typed") { directory in
      let result = try shell(
        in: directory,
        "\"$0\" explore --plant newestFirst --scenarios \(TypedCommand.quoted(name)) | sed -n 's/^purchase-simulator run/\"$1\" run/p' > line && . ./line"
      )
      #expect(!result.errors.contains("cannot be read"), "\(result.errors)")
      #expect(result.output.contains("1 of 1 clean"), "\(result.output)")
    }
  }

  /// Runs a line in `sh`; `$0` is the lab, and `$1` the simulator.
  private func shell(in directory: String, _ line: String) throws -> (output: String, errors: String) {
    let process = Process()
    let (output, errors) = (Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", line, Program.lab.binary.path, Program.simulator.binary.path]
    process.currentDirectoryURL = URL(fileURLWithPath: directory)
    process.standardOutput = output
    process.standardError = errors
    try process.begin()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    let complaints = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (String(decoding: text, as: UTF8.self), String(decoding: complaints, as: UTF8.self))
  }
}

import FaultInjection
import Foundation
import TestSupport
import Testing

@testable import purchase_simulator

/// Commands that are printed so that users can type them again.
@Suite struct TypedCommandTests {
  private static let words = [
    "plain", "/tmp/a-b_c.d,e:f=g+h@i%j", "", " ", "two words", "it's", "'", "''", "\"", "$HOME", "`id`",
    "$(id)",
    "a\nb", "a\\b", "*", "~", "#", "!x", "a;b", "a&b", "a|b", "<", ">", "(", "{a,b}", "[a]", "ä", "-n", "\t",
  ]

  @Test func `a word that needs no quotes has none`() {
    #expect(
      TypedCommand.line(["run", "/tmp/a-b/explore-1.json"])
        == "purchase-simulator run /tmp/a-b/explore-1.json")
    #expect(TypedCommand.quoted("it's") == #"'it'\''s'"#)
  }

  @Test func `sh reads every quoted word back unchanged`() throws {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    let words = Self.words.map(TypedCommand.quoted).joined(separator: " ")
    process.arguments = ["-c", #"printf '%s\0' "# + words]
    process.standardOutput = output
    try process.begin()
    let said = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(said == Data((Self.words.joined(separator: "\0") + "\0").utf8))
  }

  @Test(arguments: LongTests.some(["it's $HOME", "my files", "-files", "plain"], every: 4))
  func `the printed line plays the scenario file, wherever the file is`(name: String) throws {
    try TemporaryDirectory.with("Typed") { directory in
      let result = try shell(
        in: directory,
        "\"$0\" explore --plant newestFirst --scenarios \(TypedCommand.quoted(name)) | sed -n 's/^purchase-simulator run/\"$0\" run/p' > line && . ./line"
      )
      #expect(!result.errors.contains("cannot be read"), "\(result.errors)")
      #expect(result.output.contains("1 of 1 clean"), "\(result.output)")
    }
  }

  /// Runs a line in `sh`; `$0` is the simulator.
  private func shell(in directory: String, _ line: String) throws -> (output: String, errors: String) {
    let process = Process()
    let (output, errors) = (Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", line, RunTests.binary.path]
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

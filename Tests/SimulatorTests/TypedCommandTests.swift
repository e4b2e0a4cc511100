import FaultInjection
import Foundation
import Testing

@testable import purchase_simulator

/// Commands that are printed to be typed again.
@Suite struct TypedCommandTests {
  private static let words = [
    "plain", "/tmp/a-b_c.d,e:f=g+h@i%j", "", " ", "two words", "it's", "'", "''", "\"", "$HOME", "`id`",
    "$(id)",
    "a\nb", "a\\b", "*", "~", "#", "!x", "a;b", "a&b", "a|b", "<", ">", "(", "{a,b}", "[a]", "ä", "-n", "\t",
  ]

  @Test func `a word that needs no quotes has none`() {
    #expect(
      TypedCommand.line(["story", "/tmp/a-b/explore-1.json"])
        == "purchase-simulator story /tmp/a-b/explore-1.json")
    #expect(TypedCommand.quoted("it's") == #"'it'\''s'"#)
  }

  @Test func `a shell reads every word as it was`() throws {
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

  @Test(arguments: ["my stories", "it's $HOME", "-stories", "plain"])
  func `the line that plays a story does so from wherever the story is`(name: String) throws {
    try TemporaryDirectory.with("Typed") { directory in
      let result = try shell(
        in: directory,
        "\"$0\" explore --plant newestFirst --stories \(TypedCommand.quoted(name)) | sed -n 's/^purchase-simulator story/\"$0\" story/p' > line && . ./line"
      )
      #expect(!result.errors.contains("cannot be read"), "\(result.errors)")
      #expect(result.output.contains("1 of 1 clean"), "\(result.output)")
    }
  }

  /// Runs a line of a shell, of which `$0` is the simulator.
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

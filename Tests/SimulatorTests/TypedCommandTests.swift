import CommandLineTools
import CommandTestSupport
import Foundation
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
}

import CommandLineTools
import CommandTestSupport
import Foundation
import Testing

@testable import purchase_simulator

/// The help pages, and the answers to wrong usage.
@Suite struct HelpTests {
  @Test(arguments: CommandHelp<Command>.all.map(\.name))
  func `a command has a page that fits a terminal, as help NAME and as NAME --help`(name: String) throws {
    let page = try CommandResult(of: ["help", name])
    #expect(page.status == 0 && page.errors.isEmpty)
    #expect(page.output.contains("EXAMPLES"))
    #expect(try CommandResult(of: [name, "--help"]).output == page.output)
    for line in page.output.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
  }

  @Test func `the page of all commands names each command and exit code`() throws {
    let page = try CommandResult(of: ["help"])
    for command in CommandHelp<Command>.all { #expect(page.output.contains("  \(command.name) ")) }
    for line in page.output.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    for code in ["0", "1", "64", "65", "66", "70", "74", "75", "130"] {
      #expect(page.output.contains("\n  \(code) "))
    }
    #expect(try CommandResult(of: []).output == page.output)
    #expect(try CommandResult(of: ["--version"]).output.hasPrefix("purchase-simulator "))
  }

  @Test func `the topic of scenario files fits a terminal`() throws {
    let page = try CommandResult(of: ["help", "scenario-file"])
    #expect(page.status == 0 && page.output.contains("A SCENARIO FILE"))
    for line in page.output.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
  }

  @Test(arguments: [
    (["rnu"], "did you mean 'run'?"), (["run", "reinstal"], "did you mean 'reinstall'?"),
    (["compare", "--reprt", "x"], "did you mean '--report'?"),
    (["help", "comapre"], "did you mean 'compare'?"),
    (["run", "--all", "--client", "engin"], "did you mean 'engine'?"),
    (["crash-matrix", "--scenario", "purchase"], "did you mean 'purchases'?"),
    (["crash-matrix", "--cell", "a/b/c"], "is no cell"),
    (["run", "--all", "--jobs", "0"], "--jobs needs 1 to 64"),
    (["run", "--all", "--seed", "-4"], "--seed needs a whole number"), (["run"], "run needs the name"),
    (["scenarios", "--show", "nothing-like-it-at-all"], "there is no scenario"),
  ])
  func `a misspelled name is wrong usage, and the nearest name is offered`(
    arguments: [String], message: String
  ) throws {
    let result = try CommandResult(of: arguments)
    #expect(result.status == 64 && result.output.isEmpty)
    #expect(result.errors.contains(message), "\(result.errors)")
    #expect(result.errors.contains("Try 'purchase-simulator help"))
  }

  @Test func `without a terminal there is no colour, no progress, and no line beyond 80 columns`() throws {
    let result = try CommandResult(of: ["run", "purchase", "reply-lost", "--client", "fire-and-forget"])
    #expect(!result.output.contains("\u{1B}") && result.errors.isEmpty)
    for line in result.output.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
  }

  @Test func `progress shows a count, a rate and the time left`() {
    #expect(Progress.words(0, of: 45, after: 1) == "0 of 45")
    #expect(Progress.words(12, of: 45, after: 4) == "12 of 45, 3.0/s, 11 s left")
  }
}

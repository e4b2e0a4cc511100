import Foundation
import Testing

@testable import purchase_simulator

/// What the program says of itself.
@Suite struct HelpTests {
  @Test(arguments: CommandHelp.all.map(\.name))
  func `a command has a page that fits a terminal, by either way of asking`(name: String) throws {
    let page = try CommandResult(of: ["help", name])
    #expect(page.status == 0 && page.errors.isEmpty)
    #expect(page.output.contains("EXAMPLES"))
    #expect(try CommandResult(of: [name, "--help"]).output == page.output)
    for line in page.output.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
  }

  @Test func `the page of all commands names each, and what the exit codes mean`() throws {
    let page = try CommandResult(of: ["help"])
    for command in CommandHelp.all { #expect(page.output.contains("  \(command.name) ")) }
    for line in page.output.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    for code in ["0", "1", "64", "65", "66", "70", "74", "130"] {
      #expect(page.output.contains("\n  \(code) "))
    }
    #expect(try CommandResult(of: []).output == page.output)
    #expect(try CommandResult(of: ["--version"]).output.hasPrefix("purchase-simulator "))
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
  func `a slip is wrong usage, and the nearest name is offered`(arguments: [String], said: String) throws {
    let result = try CommandResult(of: arguments)
    #expect(result.status == 64 && result.output.isEmpty)
    #expect(result.errors.contains(said), "\(result.errors)")
    #expect(result.errors.contains("Try 'purchase-simulator help"))
  }

  @Test func `what is not a terminal gets neither colour nor progress, and no line beyond 80 columns`() throws
  {
    let result = try CommandResult(of: ["run", "purchase", "reply-lost", "--client", "fire-and-forget"])
    #expect(!result.output.contains("\u{1B}") && result.errors.isEmpty)
    for line in result.output.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
  }

  @Test func `progress is a count, a rate and what is left`() {
    #expect(Progress.words(0, of: 45, after: 1) == "0 of 45")
    #expect(Progress.words(12, of: 45, after: 4) == "12 of 45, 3.0/s, 11 s left")
  }
}

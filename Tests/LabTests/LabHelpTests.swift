import CommandLineTools
import CommandTestSupport
import Testing

@testable import purchase_lab

/// The help pages of the lab, and the commands of the lab on the pages of the documentation.
@Suite struct LabHelpTests {
  @Test(arguments: CommandHelp<Command>.all.map(\.name))
  func `a command has a page that fits a terminal, as help NAME and as NAME --help`(name: String) throws {
    let page = try CommandResult(of: ["help", name], by: .lab)
    #expect(page.status == 0)
    #expect(page.errors.isEmpty)
    #expect(page.output.contains("EXAMPLES"))
    #expect(try CommandResult(of: [name, "--help"], by: .lab).output == page.output)
    for line in page.output.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
  }

  @Test func `the page of all commands names each command`() throws {
    let page = try CommandResult(of: [], by: .lab)
    for command in CommandHelp<Command>.all { #expect(page.output.contains("  \(command.name) ")) }
    for line in page.output.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    #expect(try CommandResult(of: ["--version"], by: .lab).output.hasPrefix("purchase-lab "))
  }

  @Test func `a misspelled command is wrong usage of the lab`() throws {
    let result = try CommandResult(of: ["explroe"], by: .lab)
    #expect(result.status == 64)
    #expect(result.errors.contains("did you mean 'explore'?"))
    #expect(result.errors.contains("Try 'purchase-lab help'"))
  }

  @Test func `each command of the lab on any page is understood by it`() throws {
    var count = 0
    for page in try MarkdownPage.all {
      for command in page.commands(of: .lab) {
        count += 1
        // A name alone is a mention.
        if command.count == 1, CommandHelp<Command>.named(command[0]) != nil { continue }
        if case .failure(let error) = Command.parse(command) {
          Issue.record("\(page.path): \(command.joined(separator: " ")): \(error.message)")
        }
      }
    }
    #expect(count > 15)
  }
}

import BackendConformance
import CommandLineTools
import CommandTestSupport
import Foundation
import PurchaseSyncTesting
import ScenarioFormat
import Testing

@testable import purchase_simulator

/// The README says what is so: its code compiles and runs, its commands exist, its numbers are counted.
@Suite struct ReadmeTests {
  private static let scenarios = "Sources/PurchaseSyncTesting/PurchaseSyncTesting.docc/Scenarios.md"

  private func readme() throws -> MarkdownPage { try MarkdownPage("README.md") }

  private func marked(_ path: String) throws -> String {
    let source = try MarkdownPage.read(path)
    let begin = try #require(source.range(of: "// MARK: begin\n"))
    let end = try #require(source.range(of: "// MARK: end"))
    return String(source[begin.upperBound..<end.lowerBound])
  }

  @Test func `it is short, and its two commands are on the first screen`() throws {
    let readme = try readme()
    #expect(readme.lineCount < 250)
    let first = readme.text.split(separator: "\n", omittingEmptySubsequences: false).prefix(45)
    #expect(first.contains { $0.hasSuffix("&& swift run purchase-simulator run --all") })
    #expect(first.contains("swift test --disable-xctest"))
  }

  // MARK: Code

  @Test func `each block of Swift is compiled elsewhere, or is the line for a manifest`() throws {
    let swift = try readme().blocks.filter { $0.language == "swift" }.map(\.text)
    let sample = try MarkdownPage.read("Tests/ReadmeSample/main.swift")
    let app = try marked("Tests/AppleInterfaces/Example/Shop.swift")
    let manifest = try #require(swift.first { $0.hasPrefix(".package(") })
    #expect(Set(swift) == [sample, app, manifest])
    #expect(sample.split(separator: "\n").count <= 27)
    let products = try MarkdownPage.read("Package.swift")
    for line in manifest.split(separator: "\n").dropFirst() {
      let name = try #require(line.split(separator: "\"").dropFirst().first)
      #expect(line.contains("package: \"purchase-sync\""))
      #expect(products.contains(".library(name: \"\(name)\""), "\(name)")
    }
  }

  @Test func `the sample sells against a served shop, and prints what the README says`() throws {
    let (server, base) = try Served.start()
    defer {
      server.terminate()
      server.waitUntilExit()
    }
    let sample = Process()
    let said = Pipe()
    sample.executableURL = Program.products.appendingPathComponent("readme-sample")
    sample.arguments = [base]
    sample.standardOutput = said
    try sample.begin()
    let output = String(decoding: said.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    sample.waitUntilExit()
    #expect(sample.terminationStatus == 0)
    let shown = try readme().blocks.filter { $0.language.isEmpty }.map(\.text)
    #expect(shown.contains(output), "\(output)")
  }

  // MARK: Commands

  @Test func `each shell block has commands that exist`() throws {
    let known = ["swift test --disable-xctest", "swift run readme-sample"]
    for line in try readme().blocks.filter({ $0.language == "sh" }).flatMap(\.lines) {
      #expect(
        known.contains(line) || line.contains("purchase-simulator") || line.contains("purchase-lab"),
        "\(line)")
    }
  }

  @Test func `each command of the simulator on any page is understood by it`() throws {
    var count = 0
    for page in try MarkdownPage.all {
      for command in page.commands(of: .simulator) {
        count += 1
        // A name alone is a mention.
        if command.count == 1, CommandHelp<Command>.named(command[0]) != nil { continue }
        if case .failure(let error) = Command.parse(command) {
          Issue.record("\(page.path): \(command.joined(separator: " ")): \(error.message)")
        }
      }
    }
    #expect(count > 30)
  }

  /// Those that take no time.
  @Test(arguments: ["scenarios", "decode"])
  func `a quick command of the README works`(name: String) throws {
    let commands = try readme().commands(of: .simulator).filter { $0.first == name && $0.count > 1 }
    for command in commands {
      let arguments = command.map {
        $0.hasPrefix("Tests/") ? MarkdownPage.root.appendingPathComponent($0).path : $0
      }
      #expect(try CommandResult(of: arguments).status == 0, "\(command)")
    }
    #expect(!commands.isEmpty)
  }

  // MARK: Facts

  @Test(arguments: ["\nscenario                         paid ", "\nscenario                         engine "])
  func `a table of the scenarios has a row for each`(head: String) throws {
    let page = try MarkdownPage(Self.scenarios).text
    let start = try #require(page.range(of: head))
    let rows = page[start.upperBound...].split(separator: "\n").dropFirst().prefix(Scenario.all.count)
    #expect(rows.map { $0.prefix { $0 != " " } } == Scenario.all.map { Substring($0.name) })
  }

  @Test func `the totals of the comparison are those of the whole table`() throws {
    let page = try MarkdownPage(Self.scenarios).text
    let names = ["lost", "doubled", "wrong account", "stuck", "runs that were clean"]
    let readme = try readme().blocks.flatMap(\.lines)
    for name in names {
      let line = try #require(readme.first { $0.hasPrefix(name + " ") })
      #expect(page.contains("\n" + line + "\n"), "\(name)")
      #expect(line.split(separator: " ").compactMap { Int($0) }.count == Client.allCases.count)
    }
  }

  @Test func `the numbers of scenarios and of conformance checks are counted`() throws {
    let text = try readme().text
    #expect(text.contains("\(Scenario.all.count) scenarios"))
    #expect(text.contains("\(ConformanceCheck.all.count) checks"))
  }

  @Test func `each link leads to a file`() throws {
    let links = try readme().linkedFiles
    #expect(links.count > 15)
    for link in links {
      let path = MarkdownPage.root.appendingPathComponent(link).path
      #expect(FileManager.default.fileExists(atPath: path), "\(link)")
    }
  }

  @Test func `blocks, commands and links are read from a page`() {
    let page = MarkdownPage(
      "A.md",
      text: """
        Run `purchase-simulator decode a.json`, or `purchase-simulator run NAME`.
        [Here](Sources/A.md), [there](https://x).
        ```sh
        cd x && swift run -c release purchase-simulator run --all > out.txt
        ```
        ```
        output
        ```

        """)
    #expect(page.blocks.map(\.language) == ["sh", ""] && page.blocks.last?.text == "output\n")
    #expect(page.commands(of: .simulator) == [["run", "--all"], ["decode", "a.json"]])
    #expect(page.linkedFiles == ["Sources/A.md"] && page.lineCount == 8)
  }
}

import Foundation
import Testing

@testable import purchase_simulator

@Suite struct ReadmeTests {
  private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  @Test func `the embedding example of the README is the one that compiles`() throws {
    let source = try String(
      contentsOf: root.appendingPathComponent("Tests/SimulatorTests/EmbeddingExample.swift"), encoding: .utf8)
    let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
    let begin = try #require(source.range(of: "// MARK: begin\n"))
    let end = try #require(source.range(of: "// MARK: end"))
    let example = source[begin.upperBound..<end.lowerBound]
    #expect(example.split(separator: "\n", omittingEmptySubsequences: false).count <= 27)
    #expect(readme.contains("```swift\n" + example + "```"))
  }

  @Test(arguments: ["\nscenario                         paid ", "\nscenario                         engine "])
  func `a table of the README has a row for each scenario`(head: String) throws {
    let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
    let start = try #require(readme.range(of: head))
    let rows = readme[start.upperBound...].split(separator: "\n").dropFirst().prefix(Scenario.all.count)
    #expect(rows.map { $0.prefix { $0 != " " } } == Scenario.all.map { Substring($0.name) })
  }
}

import Testing

/// The version is in one place, and the changelog follows it.
@Suite struct VersionTests {
  private static let place = "Sources/PurchaseSync/Model/PackageVersion.swift"
  private static let changelog = ".github/CHANGELOG.md"

  private static func version() throws -> String {
    let source = try #require(Repository.read(place))
    let start = try #require(source.firstRange(of: "static let current = \""))
    return String(source[start.upperBound...].prefix { $0 != "\"" })
  }

  /// The version of each entry, newest first.
  private static func entries(_ text: String) -> [String] {
    text.split(separator: "\n").filter { $0.hasPrefix("## ") }.map { line in
      String(line.dropFirst(3).prefix { $0 != " " })
    }
  }

  @Test func `the newest entry of the changelog is the version of the package`() throws {
    let entries = Self.entries(try #require(Repository.read(Self.changelog)))
    #expect(entries.first == (try Self.version()))
    #expect(Set(entries).count == entries.count)
  }

  @Test func `the version is three numbers, and a name before a release`() throws {
    let version = try Self.version()
    #expect(version.wholeMatch(of: /[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?/) != nil, "\(version)")
  }

  @Test func `no other code states the version`() throws {
    let version = try Self.version()
    for file in Repository.swiftFiles where file.path != Self.place {
      #expect(!file.lines.contains { $0.contains("\"\(version)\"") }, "\(file.path)")
    }
  }

  @Test func `an entry that is missing is found`() {
    #expect(Self.entries("# Changelog\n\n## 2.0.0 (later)\n\n### Fixed\n\n## 1.0.0\n") == ["2.0.0", "1.0.0"])
  }

  @Test func `each scenario that is replayed with Apple's store has the name of one of the simulator`() throws
  {
    let tests = try #require(Repository.read("Tests/StoreKitTests/ScenarioReplayTests.swift"))
    let page = "Sources/PurchaseSyncTesting/PurchaseSyncTesting.docc/Scenarios.md"
    let scenarios = try #require(Repository.read(page))
    let names = tests.matches(of: /func `([a-z-]+)`/).map(\.output.1)
    #expect(names.count > 5)
    for name in names { #expect(scenarios.contains("\n\(name) "), "\(name)") }
  }
}

import Testing

/// The words of the glossary.
@Suite struct WordingTests {
  private static let files: [(path: String, prose: [String])] = {
    let sources = Dictionary(uniqueKeysWithValues: Repository.swiftFiles.map { ($0.path, $0) })
    return Repository.paths.filter(Wording.applies).compactMap { path in
      Repository.read(path).map { (path, Wording.prose(of: path, $0, source: sources[path])) }
    }
  }()

  @Test(.enabled(if: Wording.isEnforced)) func `no text uses a word that the glossary has replaced`() {
    for (path, prose) in Self.files { expectNone(Wording.findings(in: path, prose: prose)) }
  }

  @Test(.enabled(if: Wording.isEnforced)) func `at most one comment line in 1000 has a vague word`() {
    let all = Self.files.map { Wording.vagueness(of: $0.path, prose: $0.prose) }
    let lines = all.reduce(0) { $0 + $1.lines }
    let words = all.flatMap(\.words)
    #expect(lines > 1_000)
    if words.count * 1_000 > lines { expectNone(words) }
  }

  @Test func `a replaced word is found in comments, literals, names of tests and pages`() {
    for text in [
      "\n// The app is parked.", "\nlet s = \"a story\"", "\nfunc `the cap holds`() {}",
      "\n/// An entry is set\n/// aside.",
      "\n/* a failpoint */", "\n// No room for it",
    ] {
      #expect(Wording.findings(in: "Sources/A/A.swift", text).map(\.line) == [2], "\(text)")
    }
    #expect(Wording.findings(in: "README.md", "One\n`story` FILE\n").map(\.line) == [2])
  }

  @Test func `code, other words and parts of words are not found`() {
    for text in [
      "park()", "let story = cap", "// sparks, history, capacity", "// a bedroom", "// the capital",
    ] {
      #expect(Wording.findings(in: "Sources/A/A.swift", text).isEmpty, "\(text)")
    }
    #expect(!Wording.applies(to: "Tests/ArchitectureTests/Wording.swift"))
    #expect(!Wording.applies(to: "Simulator/Report/report.png"))
  }

  @Test func `vague words are counted in comments only`() {
    let text = "// Somebody did it, and nobody's said.\nlet nobody = \"nobody\"  // Whoever.\n/// One line.\n"
    let found = Wording.vagueness(of: "A.swift", text)
    #expect(found.lines == 2)
    #expect(found.words.map(\.line) == [1, 1, 2])
  }
}

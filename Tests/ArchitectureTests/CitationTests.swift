import Testing

/// References to the documentation: how they are read, and that all of them in this repository lead to a fact.
@Suite struct CitationTests {
  private static let anchors: Anchors = {
    var anchors = Anchors()
    for path in Repository.paths where Anchors.isPage(path) {
      if let text = Repository.read(path) { anchors.read(path, text) }
    }
    return anchors
  }()

  /// Text files. Recorded inputs and pictures are none.
  private static let texts: [(path: String, text: String)] = Repository.paths.compactMap { path in
    let isText = [".swift", ".md", ".json", ".html", ".js", ".sh", ".swiftinterface"].contains {
      path.hasSuffix($0)
    }
    let isScript = path.hasPrefix(".ci/") || path.hasPrefix("Tests/Fuzz/") && !path.contains(".")
    guard isText || isScript, !path.contains("/Fixtures/"), !path.contains("/Crashes/") else { return nil }
    // These tests cite facts that do not exist.
    if path.hasPrefix("Tests/ArchitectureTests/") { return nil }
    return Repository.read(path).map { (path, $0) }
  }

  @Test func `every reference to a fact leads to it`() {
    var count = 0
    for (path, text) in Self.texts {
      let citations = Citation.all(in: text)
      count += citations.count
      expectNone(Self.anchors.findings(in: path, citations))
    }
    #expect(count > 300)
  }

  @Test func `the pages define every section, requirement and invariant`() {
    let names = Self.anchors.names
    let sections = [
      "a.1", "a.8", "b.1", "b.4", "c.1", "c.3", "d.1", "d.2", "pitfall 1", "pitfall 33", "section 0",
    ]
    for section in sections { #expect(names.contains("StoreFacts \(section)"), "\(section)") }
    for requirement in ["R1.1", "R1.4", "R2.7", "R3.10", "R4.5", "R5.6"] {
      #expect(names.contains(requirement))
    }
    for number in 1...31 { #expect(names.contains("invariant \(number)"), "\(number)") }
    for number in 1...7 { #expect(names.contains("invariant S\(number)"), "S\(number)") }
    #expect(names.count { $0.hasPrefix("R") && $0.contains(".") } == 32)
  }

  @Test func `no text cites a paper that is not in the repository`() {
    for (path, text) in Self.texts { expectNone(Anchors.outsideFindings(in: path, text)) }
  }

  @Test func `every file and folder that a page names exists`() {
    var paths = Set(Repository.paths)
    for path in Repository.paths {
      var parts = path.split(separator: "/").dropLast()
      while !parts.isEmpty {
        paths.insert(parts.joined(separator: "/"))
        parts.removeLast()
      }
    }
    for (path, text) in Self.texts where path.hasSuffix(".md") {
      expectNone(Anchors.pathFindings(in: path, text, among: paths))
    }
  }

  @Test(
    arguments: [
      ("/// As Apple sends it (StoreFacts a.5, c.2). More.", ["StoreFacts a.5", "StoreFacts c.2"]),
      ("/// Open (StoreFacts d.1 and d.2; R1.1)", ["StoreFacts d.1", "StoreFacts d.2", "R1.1"]),
      ("/// A line break (StoreFacts\n  /// b.4): read", ["StoreFacts b.4"]),
      ("/// `StoreFacts pitfall 16` and others", ["StoreFacts pitfall 16"]),
      ("/// (StoreFacts pitfall\n/// 18), pitfalls", ["StoreFacts pitfall 18"]),
      ("StoreFacts pitfalls 3, 21", ["StoreFacts pitfall 3", "StoreFacts pitfall 21"]),
      ("(StoreFacts section 0 and c.3).", ["StoreFacts section 0", "StoreFacts c.3"]),
      ("(StoreFacts a.3 to a.7), in", ["StoreFacts a.3", "StoreFacts a.7"]),
      ("(StoreFacts a; R1, R2).", ["StoreFacts a", "R1", "R2"]),
      (
        "(StoreFacts 'Same thing,\n  /// different spelling')",
        ["StoreFacts 'Same thing, different spelling'"]
      ),
      ("(StoreFacts 25)", ["StoreFacts 25"]), ("every field of StoreFacts, mutated", []),
      ("<doc:StoreFacts> and StoreFactsPitfalls", []),
      ("proves: [\"R5.6\", \"invariant 9\"]", ["R5.6", "invariant 9"]),
      ("(invariants 6, 9 and 18).", ["invariant 6", "invariant 9", "invariant 18"]),
      ("Invariants 28–30 and S3", ["invariant 28", "invariant 30", "invariant S3"]),
      ("invariant \\(number) is broken", []), ("the invariants hold. 12 of them", []),
      ("`R5.3`, R10, RFC 9110, R8x, UR2.1", ["R5.3", "R10"]),
    ] as [(String, [String])])
  func `a reference is read in every form`(text: String, anchors: [String]) {
    #expect(Set(Citation.all(in: text).map(\.anchor)) == Set(anchors))
  }

  @Test func `a reference to nothing, a paper from outside and a missing file are found`() {
    var anchors = Anchors()
    anchors.read(Anchors.factPages + "VerifyReceipt.md", "### a.1 Endpoint\n### 0 Inputs\n16. no pitfall\n")
    anchors.read(Anchors.factPages + "Pitfalls.md", "16. **Base64**\n")
    anchors.read(Anchors.requirements, "### R4 Matching\n| R4.5 | text |\n| id | fact |\n")
    anchors.read(Anchors.invariants, "| 12 | prefix | C |\n| S3 | streams | E |\n")
    let good =
      "StoreFacts a.1; StoreFacts a; StoreFacts section 0; StoreFacts pitfall 16; R4, R4.5; invariants 12, S3"
    #expect(anchors.findings(in: "A.swift", Citation.all(in: good)).isEmpty)
    for bad in [
      "StoreFacts a.2", "StoreFacts b", "StoreFacts pitfall 17", "StoreFacts 16", "R4.6", "R5",
      "invariant 13",
    ] {
      #expect(anchors.findings(in: "A.swift", Citation.all(in: "\n// \(bad).")).map(\.line) == [2], "\(bad)")
    }
    #expect(Anchors.outsideFindings(in: "A.swift", "\n// (design.md)").map(\.line) == [2])
    #expect(Anchors.outsideFindings(in: "A.swift", "Requirements.md, redesign.md").isEmpty)
    let page = "`Sources/A` and `Sources/B/C.swift`\n`Sources/Gone.swift --flag`, `Sources/*/X`"
    let found = Anchors.pathFindings(in: "P.md", page, among: ["Sources/A", "Sources/B/C.swift"])
    #expect(found.map(\.line) == [2])
  }
}

/// The facts that can be cited, read from the pages that hold them.
struct Anchors: Sendable {
  /// As `Citation.anchor` spells them.
  private(set) var names: Set<String> = []

  static let factPages = "Sources/AppStoreReceipts/AppStoreReceipts.docc/StoreFacts"
  static let requirements = "Sources/PurchaseSync/PurchaseSync.docc/Requirements.md"
  static let invariants = "Sources/PurchaseSync/PurchaseSync.docc/Invariants.md"

  /// Whether the page defines facts of one kind.
  static func isPage(_ path: String) -> Bool {
    path.hasPrefix(factPages) && path.hasSuffix(".md") || path == requirements || path == invariants
  }

  /// Adds what the page defines: headings ("### a.5 …"), numbered items ("16. …") and rows ("| R4.5 |").
  mutating func read(_ path: String, _ text: String) {
    for line in text.split(separator: "\n") {
      if path == Self.requirements {
        if let name = Self.heading(line)?.first { names.insert(String(name)) }
        if let name = Self.firstCell(line), name.hasPrefix("R") { names.insert(String(name)) }
      } else if path == Self.invariants {
        if let name = Self.firstCell(line) { names.insert("invariant \(name)") }
      } else if path.hasPrefix(Self.factPages) {
        facts(line, isPitfalls: path.hasSuffix("Pitfalls.md"))
      }
    }
  }

  private mutating func facts(_ line: Substring, isPitfalls: Bool) {
    if isPitfalls, let dot = line.firstIndex(of: "."), let number = Int(line[..<dot]) {
      names.insert("StoreFacts pitfall \(number)")
    }
    guard let words = Self.heading(line), let first = words.first else { return }
    names.insert("StoreFacts '\(words.joined(separator: " "))'")
    if first == "0" { names.insert("StoreFacts section 0") }
    guard first.dropFirst().first == "." else { return }
    names.insert("StoreFacts \(first)")
    names.insert("StoreFacts \(first.prefix(1))")
  }

  private static func heading(_ line: Substring) -> [Substring]? {
    line.hasPrefix("### ") ? line.dropFirst(4).split(separator: " ") : nil
  }

  private static func firstCell(_ line: Substring) -> Substring? {
    guard line.hasPrefix("| "), let end = line.dropFirst(2).firstIndex(of: " ") else { return nil }
    let cell = line[line.index(line.startIndex, offsetBy: 2)..<end]
    return cell.last?.isNumber == true ? cell : nil
  }

  /// Citations of facts that no page defines.
  func findings(in path: String, _ citations: [Citation]) -> [Finding] {
    citations.filter { !names.contains($0.anchor) }.map {
      Finding(path: path, line: $0.line, message: "no page of the documentation has \($0.anchor)")
    }
  }

  /// Papers that are not in the repository and must not be cited.
  private static let outside = [
    "receipt-facts", "requirements", "design", "simulation", "performance", "house", "field", "style",
  ].map { $0 + ".md" }

  /// Mentions of such a paper.
  static func outsideFindings(in path: String, _ text: String) -> [Finding] {
    var found: [Finding] = []
    for (offset, line) in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
      guard endsPage(line) else { continue }
      let words = Substring(line).split { !$0.isLetter && !$0.isNumber && $0 != "-" && $0 != "." }
      for paper in outside where words.contains(where: { $0 == paper || $0.hasPrefix(paper + ".") }) {
        found.append(
          Finding(path: path, line: offset + 1, message: "cites \(paper), which is not in the repository"))
      }
    }
    return found
  }

  /// Whether ".md" is in the line.
  private static func endsPage(_ line: Substring.UTF8View) -> Bool {
    var last: (UInt8, UInt8) = (0, 0)
    for byte in line {
      if byte == 0x64, last == (0x2E, 0x6D) { return true }
      last = (last.1, byte)
    }
    return false
  }

  /// Files and folders of the repository that a page names in backticks and that do not exist.
  static func pathFindings(in path: String, _ text: String, among paths: Set<String>) -> [Finding] {
    text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap { offset, line in
      line.split(separator: "`").filter { piece in
        guard let word = piece.split(separator: " ").first, !word.contains("*"), !word.contains("…") else {
          return false
        }
        let isPath = ["Sources/", "Tests/", "Simulator/"].contains { word.hasPrefix($0) }
        return isPath && !paths.contains(String(word.last == "/" ? word.dropLast() : word))
      }.map { Finding(path: path, line: offset + 1, message: "\($0) does not exist") }
    }
  }
}

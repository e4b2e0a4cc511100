import BackendConformance

/// Which checks fail with which planted bug: the first is about the bug, the others see it too.
enum BrokenTable {
  struct Row: Sendable {
    var bug: String
    /// The check that is about the bug.
    var finder: String
    /// Further checks that fail.
    var others: [String]
    /// Checks that fail or not, by what the earlier ones left on the backend.
    var uncertain: [String] = []
    /// Whether it breaks uploads or orders as such, so that every check that pays may fail.
    var isBroad = false

    /// The checks that may fail apart from the finder.
    var allowed: [String] {
      others + uncertain
        + (isBroad
          ? ConformanceCheck.all.filter { $0.needs.contains(.store) }.map(\.name) + [
            "large", "restart-numbers",
          ] : [])
    }
  }

  static let rows = orders + uploads + signatures + owners + changes + forms

  /// The others must fail too. `*` stands for the checks that a bug may fail which breaks uploads or orders as such.
  /// `others`: names; one with a question mark is uncertain, and an asterisk stands for each check that pays.
  static func row(_ bug: String, _ finder: String, _ others: String) -> Row {
    let names = others.split(whereSeparator: \.isWhitespace).map(String.init)
    return Row(
      bug: bug, finder: finder, others: names.filter { $0 != "*" && !$0.hasSuffix("?") },
      uncertain: names.filter { $0.hasSuffix("?") }.map { String($0.dropLast()) },
      isBroad: names.contains("*"))
  }
}

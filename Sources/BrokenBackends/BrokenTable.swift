import BackendConformance

/// Which checks fail with which planted bug: the first is about the bug, the others see it too.
package enum BrokenTable {
  package struct Row: Sendable {
    package var bug: String
    /// The check that is about the bug.
    package var finder: String
    /// Further checks that fail.
    package var others: [String]
    /// Those of them that fail only by what checks before them leave in the account.
    var behindOthers: Set<String> = []
    /// Whether it breaks uploads or orders as such, so that every check that pays may fail.
    var isBroad = false

    /// All checks that the row names.
    package var named: [String] { [finder] + others }

    /// Whether the bug is found only by requests that overlap.
    package var isRace: Bool { bug.hasPrefix("race-") }

    /// Whether the check may pass although the row names it: one that sends at once may meet no overlap, and a sample may
    /// lack the checks before it.
    private func mayPass(_ check: String, inSample: Bool) -> Bool {
      check != finder && (isRace || check.hasPrefix("parallel-") || inSample && behindOthers.contains(check))
    }

    /// The checks that may fail apart from the named ones.
    private var allowed: Set<String> {
      guard isBroad else { return [] }
      let paying = ConformanceCheck.all.filter { $0.needs.contains(.store) }.map(\.name)
      return Set(paying + ["large", "restart-numbers"])
    }

    /// What is against the row in the result of this check; nil if it agrees.
    /// - Parameter inSample: Whether only a sample of the checks ran.
    package func problem(of check: String, failed: Bool, inSample: Bool) -> String? {
      let isNamed = named.contains(check)
      if failed {
        return isNamed || allowed.contains(check) ? nil : "fails \(check), which its row does not name"
      }
      return isNamed && !mayPass(check, inSample: inSample) ? "passes \(check), which its row names" : nil
    }
  }

  package static let rows =
    orders + uploads + signatures + owners + changes + forms + ownerRows + mistakes
    + payments

  /// A row of the table.
  /// - Parameter others: Names. One with a `+` behind it fails only by what other checks leave. A `*` stands for the checks
  ///   that a bug may fail which breaks uploads or orders as such.
  static func row(_ bug: String, _ finder: String, _ others: String) -> Row {
    let names = others.split(whereSeparator: \.isWhitespace).filter { $0 != "*" }
    return Row(
      bug: bug, finder: finder, others: names.map { String($0.prefix { $0 != "+" }) },
      behindOthers: Set(names.filter { $0.last == "+" }.map { String($0.dropLast()) }),
      isBroad: others.contains("*"))
  }
}

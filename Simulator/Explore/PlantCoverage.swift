import FaultInjection

/// Whether each invariant is broken by a planted bug at least (invariant 30): one that nothing breaks may be one that
/// nobody looks at.
struct PlantCoverage: Equatable {
  private var broken: Set<Invariant> = []

  init(_ rows: [PlantSearch.Row]) {
    broken = Set(rows.compactMap { $0.invariant.flatMap(Invariant.init(rawValue:)) })
  }

  /// More of what a planted bug broke, in other lives than the first that failed.
  mutating func add(_ sum: ExplorationSum) { broken.formUnion(sum.brokenInvariants.keys) }

  /// Those that no planted bug broke.
  var missing: [Invariant] { Invariant.allCases.filter { !broken.contains($0) } }

  var isWhole: Bool { missing.isEmpty }

  /// One that says that all are, or one for each that is not.
  var lines: [String] {
    guard isWhole else {
      return missing.map { "invariant \($0.rawValue) is broken by no planted bug: \($0.sentence)" }
    }
    return ["each of the \(Invariant.allCases.count) invariants is broken by a planted bug"]
  }
}

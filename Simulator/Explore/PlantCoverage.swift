import FaultInjection

/// Whether each invariant is broken by a planted bug at least (invariant 30): one that nothing breaks may be one that
/// nobody looks at.
struct PlantCoverage {
  /// By invariant: the planted bugs that broke it.
  private let plants: [Invariant: [String]]

  init(_ rows: [PlantSearch.Row]) {
    var plants: [Invariant: [String]] = [:]
    for row in rows {
      guard let invariant = row.invariant.flatMap(Invariant.init(rawValue:)) else { continue }
      plants[invariant, default: []].append(row.plant)
    }
    self.plants = plants
  }

  /// Those that no planted bug broke, and that nobody says are broken elsewhere.
  var missing: [Invariant] {
    Invariant.allCases.filter { plants[$0] == nil && Invariant.brokenElsewhere[$0] == nil }
  }

  var isWhole: Bool { missing.isEmpty }

  /// A line for each invariant that no planted bug broke.
  var lines: [String] {
    Invariant.allCases.compactMap { invariant in
      guard plants[invariant] == nil else { return nil }
      let head = "invariant \(invariant.rawValue) is broken by no planted bug"
      return Invariant.brokenElsewhere[invariant].map { head + " here: \($0)" } ?? head
    }
  }
}

import Exploration

/// Whether some planted bug breaks each invariant (invariant 30). If no bug breaks an invariant, perhaps no check tests it.
struct BugCoverage: Equatable {
  private let promises: [InvariantNumber]
  private var broken: Set<InvariantNumber>

  init(_ catalogue: SimulationCatalogue, _ rows: [BugSearch.Row]) {
    promises = catalogue.invariants.filter { $0.bug != nil }.map(\.number)
    broken = Set(rows.compactMap(\.invariant))
  }

  /// Adds the invariants that a planted bug broke in other runs than the first failing one.
  mutating func add(_ sum: RunSum) { broken.formUnion(sum.brokenInvariants.keys) }

  /// The invariants that no planted bug broke.
  var missing: [InvariantNumber] { promises.filter { !broken.contains($0) } }

  var isWhole: Bool { missing.isEmpty }

  /// One line for all, or one for each that is missing.
  func lines(_ catalogue: SimulationCatalogue) -> [String] {
    guard isWhole else {
      return missing.map { number in
        let sentence = catalogue.invariants.first { $0.number == number }?.sentence ?? ""
        return "invariant \(number) is broken by no planted bug: \(sentence)"
      }
    }
    return promises.isEmpty ? [] : ["each of the \(promises.count) invariants is broken by a planted bug"]
  }
}

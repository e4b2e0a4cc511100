extension Invariant {
  /// Invariants that no planted bug of this level is found by, why that is so, and where they are broken instead.
  package static let brokenElsewhere: [Invariant: String] = [:]
}

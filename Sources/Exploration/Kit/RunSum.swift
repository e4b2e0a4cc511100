/// The sum of many runs.
package struct RunSum: Sendable {
  package var runs = 0
  package var events = 0
  package var draws = 0
  /// By an invariant's place; empty before the first run.
  package var exercised: [Int] = []
  /// By a mark's number; empty before the first run.
  package var marks: [Int] = []
  package var figures = DeliveryFigures()
  /// How the knobs were drawn, if the search counts that.
  package var knobs = KnobCounts()
  package var failures = 0
  /// The first failing runs, by seed.
  package private(set) var broken: [Failure] = []
  /// How many runs broke each invariant.
  package private(set) var brokenInvariants: [InvariantNumber: Int] = [:]

  package struct Failure: Sendable {
    package var seed: UInt64
    package var violation: Violation

    package init(seed: UInt64, violation: Violation) { (self.seed, self.violation) = (seed, violation) }
  }

  /// A report shows no more of them.
  private static let mostBroken = 20

  package init() {}

  /// The failing run with the smallest seed.
  package var failure: Failure? { broken.first }

  package var marksHit: Int { marks.count { $0 > 0 } }

  /// How often an invariant was checked, by its place.
  package func exercised(at place: Int) -> Int { exercised.isEmpty ? 0 : exercised[place] }

  package func hits(at place: Int) -> Int { marks.isEmpty ? 0 : marks[place] }

  package mutating func add(_ run: RunResult) {
    runs += 1
    events += run.events
    draws += run.draws
    Self.add(run.exercised, to: &exercised)
    Self.add(run.marks, to: &marks)
    figures.add(run.figures)
    guard let violation = run.violation else { return }
    failures += 1
    brokenInvariants[violation.invariant, default: 0] += 1
    keep([Failure(seed: run.seed, violation: violation)])
  }

  package mutating func add(_ other: RunSum) {
    runs += other.runs
    events += other.events
    draws += other.draws
    failures += other.failures
    Self.add(other.exercised, to: &exercised)
    Self.add(other.marks, to: &marks)
    figures.add(other.figures)
    knobs.add(other.knobs)
    brokenInvariants.merge(other.brokenInvariants, uniquingKeysWith: +)
    keep(other.broken)
  }

  private static func add(_ counts: [Int], to sum: inout [Int]) {
    // A process that died has counted nothing.
    if sum.isEmpty { sum = counts } else { for index in counts.indices { sum[index] += counts[index] } }
  }

  private mutating func keep(_ failures: [Failure]) {
    guard !failures.isEmpty else { return }
    broken = Array((broken + failures).sorted { $0.seed < $1.seed }.prefix(Self.mostBroken))
  }
}

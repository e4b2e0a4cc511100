import FaultInjection

/// The sum of many worlds.
struct ExplorationSum: Sendable {
  var seeds = 0
  var events = 0
  /// By an invariant's number, of which none is 0; empty before the first life.
  var exercised: [Int] = []
  /// By a mark's; empty before the first life.
  var marks: [Int] = []
  var figures = FaultInjection.Figures()
  /// How the knobs were drawn, if that was to be counted.
  var knobs = KnobTally()
  var failures = 0
  /// The first failing ones, by seed.
  private(set) var broken: [Failure] = []
  /// How many lives broke each invariant.
  private(set) var brokenInvariants: [Invariant: Int] = [:]

  struct Failure: Sendable {
    var seed: UInt64
    var violation: Violation
  }

  /// More of them nobody reads.
  private static let mostBroken = 20

  /// The failing one with the smallest seed.
  var failure: Failure? { broken.first }

  func exercised(_ invariant: Invariant) -> Int {
    exercised.isEmpty ? 0 : exercised[invariant.rawValue]
  }

  func hits(_ mark: Mark) -> Int { marks.isEmpty ? 0 : marks[mark.rawValue] }

  var marksHit: Int { marks.count { $0 > 0 } }

  mutating func add(_ life: Life) {
    seeds += 1
    events += life.events
    add(life.exercised, life.marks)
    figures.add(life.figures)
    guard let violation = life.violation else { return }
    failures += 1
    brokenInvariants[violation.invariant, default: 0] += 1
    keep([Failure(seed: life.seed, violation: violation)])
  }

  private mutating func add(_ exercised: [Int], _ marks: [Int]) {
    if self.exercised.isEmpty { self.exercised = Array(repeating: 0, count: exercised.count) }
    if self.marks.isEmpty { self.marks = Array(repeating: 0, count: marks.count) }
    for index in exercised.indices { self.exercised[index] += exercised[index] }
    for index in marks.indices { self.marks[index] += marks[index] }
  }

  private mutating func keep(_ failures: [Failure]) {
    guard !failures.isEmpty else { return }
    broken = Array((broken + failures).sorted { $0.seed < $1.seed }.prefix(Self.mostBroken))
  }

  mutating func add(_ other: ExplorationSum) {
    seeds += other.seeds
    events += other.events
    failures += other.failures
    if !other.exercised.isEmpty { add(other.exercised, other.marks) }
    figures.add(other.figures)
    knobs.add(other.knobs)
    brokenInvariants.merge(other.brokenInvariants, uniquingKeysWith: +)
    keep(other.broken)
  }
}

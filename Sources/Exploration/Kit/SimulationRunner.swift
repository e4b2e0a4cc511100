/// Runs one simulation by seeds. The same seed and the same acts give the same run.
package protocol SimulationRunner {
  var catalogue: SimulationCatalogue { get }
  /// The run of a seed.
  /// - Parameters:
  ///   - places: Only the acts with these places in its schedule; nil for all.
  ///   - last: The run ends with this event.
  func run(_ seed: UInt64, keeping places: [Int]?, stopAt last: Int) throws -> RunResult
  /// The same run, with a line for each event.
  func trace(of seed: UInt64, keeping places: [Int]?, stopAt last: Int) throws -> TracedRun
  /// Every random number that the run draws.
  func draws(of seed: UInt64) throws -> [Draw]
  /// The schedule of a seed.
  func acts(of seed: UInt64) -> [PlannedAct]
  /// What a seed draws before its run begins.
  func knobs(of seed: UInt64) -> KnobDescription
}

extension SimulationRunner {
  package func run(_ seed: UInt64, keeping places: [Int]? = nil) throws -> RunResult {
    try run(seed, keeping: places, stopAt: .max)
  }

  package func trace(of seed: UInt64, keeping places: [Int]? = nil) throws -> TracedRun {
    try trace(of: seed, keeping: places, stopAt: .max)
  }
}

/// The result of one run. Processes exchange it as JSON.
package struct RunResult: Sendable, Codable {
  package var seed: UInt64
  package var violation: Violation?
  /// Events of the machine's simulation, jobs of the engine's.
  package var events: Int
  /// Random numbers that the machine's simulation drew; how often the engine's had a choice between jobs.
  package var draws: Int
  /// Of everything that happened and of how many numbers were drawn.
  package var hash: UInt64
  /// By an invariant's place: how often it was checked.
  package var exercised: [Int]
  /// By a mark's number: how often it was hit.
  package var marks: [Int]
  package var figures: DeliveryFigures

  package init(
    seed: UInt64, violation: Violation?, events: Int, draws: Int, hash: UInt64, exercised: [Int],
    marks: [Int],
    figures: DeliveryFigures
  ) {
    (self.seed, self.violation, self.events, self.draws) = (seed, violation, events, draws)
    (self.hash, self.exercised, self.marks, self.figures) = (hash, exercised, marks, figures)
  }

  /// Whether two processes had the same run.
  package func isSameRun(as other: RunResult) -> Bool {
    (seed, events, draws, hash) == (other.seed, other.events, other.draws, other.hash)
  }
}

/// A run, and what happened in it, a line for each event.
package struct TracedRun: Sendable, Codable {
  package var result: RunResult
  package var lines: [String]

  package init(result: RunResult, lines: [String]) { (self.result, self.lines) = (result, lines) }
}

/// What a seed draws before its run begins.
package struct KnobDescription: Sendable {
  /// For a person, a line each.
  package var lines: [String]
  /// For counting over many runs.
  package var values: [KnobValue]
  /// What a scenario file needs.
  package var accounts: Int
  package var storeAccounts: Int
  package var entries: Int
}

/// One knob, and what a seed drew for it.
package struct KnobValue: Sendable, Hashable {
  package var knob: String
  /// Orders the values of a knob.
  package var order: Int
  package var label: String
  /// 0 shows a value that the seed did not draw.
  package var count: Int
  /// Whether its share is that of all runs; else of all values of the knob.
  package var isOfRuns: Bool

  init(_ knob: String, _ value: Int, _ label: String? = nil, count: Int = 1, isOfRuns: Bool = true) {
    (self.knob, order, self.label) = (knob, value, label ?? String(value))
    (self.count, self.isOfRuns) = (count, isOfRuns)
  }
}

/// How often each knob had each value, over many runs.
package struct KnobCounts: Sendable, Equatable {
  package private(set) var runs = 0
  /// The knobs in the order in which they were first added.
  package private(set) var names: [String] = []
  private var counts: [String: [Int: KnobValue]] = [:]

  package init() {}

  package mutating func add(_ values: [KnobValue]) {
    runs += 1
    for value in values { add(value) }
  }

  package mutating func add(_ other: KnobCounts) {
    runs += other.runs
    for name in other.names { for value in other.values(of: name) { add(value) } }
  }

  private mutating func add(_ value: KnobValue) {
    if counts[value.knob] == nil { names.append(value.knob) }
    if counts[value.knob, default: [:]][value.order] == nil {
      counts[value.knob, default: [:]][value.order] = value
    } else {
      counts[value.knob, default: [:]][value.order]?.count += value.count
    }
  }

  /// The values of one knob in their order.
  package func values(of name: String) -> [KnobValue] {
    counts[name, default: [:]].sorted { $0.key < $1.key }.map(\.value)
  }

  package static func == (left: KnobCounts, right: KnobCounts) -> Bool {
    left.runs == right.runs && left.counts == right.counts
  }
}

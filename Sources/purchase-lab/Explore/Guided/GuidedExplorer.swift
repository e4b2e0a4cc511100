import Bench
import CommandLineTools
import Dispatch
import Exploration
import PurchaseSQLite

/// Makes the runs of a guided search on several threads.
///
/// Plans are made, and results taken, a batch at a time and in order: the number of threads changes nothing but the time.
struct GuidedExplorer {
  /// Small, so that a search soon knows what its runs have shown.
  private static let batch = 16

  private let choice: SimulationChoice
  private let jobs: Int
  /// Whether to count how the knobs were drawn.
  private let countsKnobs: Bool
  private(set) var search: GuidedSearch
  private(set) var sum = RunSum()
  /// The plans that broke an invariant, each with what it broke.
  private(set) var broken: [Broken] = []
  /// Behaviours over time.
  private(set) var points: [Point] = []

  struct Broken {
    var plan: GuidedSearch.Plan
    var violation: Violation
    /// Its place in the search, from 1.
    var number: Int
    /// When it was seen, as in `Point`.
    var seconds: Double
  }

  struct Point: Encodable {
    var runs: Int
    var behaviours: Int
    /// Of the processor, since the search began.
    var seconds: Double
  }

  init(_ choice: SimulationChoice, _ search: GuidedSearch, jobs: Int, countsKnobs: Bool = false) {
    (self.choice, self.search, self.countsKnobs) = (choice, search, countsKnobs)
    self.jobs = jobs > 0 ? jobs : Jobs.usualWidth
  }

  /// Processor time so far.
  var seconds: Double { points.last?.seconds ?? 0 }

  /// Goes on as another search: what was counted so far counts for it as well.
  func continued(as search: GuidedSearch) -> GuidedExplorer {
    var other = self
    other.search = search
    return other
  }

  /// Runs batches until `isOver` says so, or until an interruption.
  ///
  /// - Parameter count: No more runs than that in all; nil for no such limit.
  mutating func run(count: Int? = nil, until isOver: (borrowing GuidedExplorer) -> Bool = { _ in false })
    throws
  {
    let begin = ProcessorTime.now / 1_000 - seconds
    while !Interruption.shared.isAsked, !isOver(self) {
      let left = min(Self.batch, (count ?? .max) - search.runs)
      guard left > 0 else { return }
      let plans = (0..<left).map { _ in search.next() }
      for (plan, shown) in zip(plans, try results(of: plans)) { take(plan, shown, since: begin) }
      let seconds = ProcessorTime.now / 1_000 - begin
      points.append(Point(runs: search.runs, behaviours: search.behaviours, seconds: seconds))
    }
  }

  private mutating func take(_ plan: GuidedSearch.Plan, _ shown: Shown, since begin: Double) {
    search.take(plan, shown.seen)
    sum.add(shown.run)
    if countsKnobs { sum.knobs.add(choice.runner(of: plan.input).knobs(of: plan.seed).values) }
    guard let violation = shown.run.violation else { return }
    broken.append(
      Broken(plan: plan, violation: violation, number: search.runs, seconds: shown.ended - begin))
  }

  private struct Shown {
    var run: RunResult
    var seen: [UInt64]
    /// Processor time, in seconds.
    var ended: Double
  }

  private static func shown(_ plan: GuidedSearch.Plan, _ choice: SimulationChoice) throws -> Shown {
    let (run, seen) = try choice.runner(of: plan.input).watchedRun(plan.seed)
    return Shown(run: run, seen: seen, ended: ProcessorTime.now / 1_000)
  }

  private func results(of plans: [GuidedSearch.Plan]) throws -> [Shown] {
    let choice = choice
    guard jobs > 1 else { return try plans.map { try Self.shown($0, choice) } }
    let results = Locked([Result<Shown, any Error>?](repeating: nil, count: plans.count))
    let next = Locked(0)
    DispatchQueue.concurrentPerform(iterations: min(jobs, plans.count)) { _ in
      while true {
        let place = next.withLock { place in
          defer { place += 1 }
          return place
        }
        guard plans.indices.contains(place) else { return }
        let result = Result { try Self.shown(plans[place], choice) }
        results.withLock { $0[place] = result }
      }
    }
    return try results.value.compactMap { try $0?.get() }
  }
}

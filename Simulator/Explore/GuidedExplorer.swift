import Bench
import Dispatch
import Exploration
import Foundation
import PurchaseSQLite

/// Makes the runs of a guided search on several threads.
///
/// Plans are made, and results taken, a batch at a time and in order: the number of threads changes nothing but the time.
struct GuidedExplorer {
  /// Small, so that a search soon knows what its runs have shown.
  private static let batch = 16

  private let choice: SimulationChoice
  private let jobs: Int
  private(set) var search: GuidedSearch
  private(set) var sum = RunSum()
  /// The first plans that broke an invariant, each with what it broke.
  private(set) var broken: [Broken] = []
  /// Behaviours over time.
  private(set) var points: [Point] = []

  struct Broken {
    var plan: GuidedSearch.Plan
    var violation: Violation
    /// Its place in the search, from 1.
    var number: Int
  }

  struct Point: Encodable {
    var runs: Int
    var behaviours: Int
    /// Of the processor, since the search began.
    var seconds: Double
  }

  init(_ choice: SimulationChoice, _ search: GuidedSearch, jobs: Int) {
    self.choice = choice
    self.search = search
    self.jobs = jobs > 0 ? jobs : Jobs.usualWidth
  }

  /// Runs until `isOver` says so after a batch, or until an interruption.
  mutating func run(until isOver: (borrowing GuidedExplorer) -> Bool) throws {
    let begin = ProcessorTime.now / 1_000 - (points.last?.seconds ?? 0)
    while !Interruption.shared.isAsked, !isOver(self) {
      try runBatch()
      points.append(
        Point(
          runs: search.runs, behaviours: search.behaviours, seconds: ProcessorTime.now / 1_000 - begin))
    }
  }

  private mutating func runBatch() throws {
    let plans = (0..<Self.batch).map { _ in search.next() }
    let results = try results(of: plans)
    for (plan, result) in zip(plans, results) {
      search.take(plan, result.seen)
      sum.add(result.run)
      guard let violation = result.run.violation else { continue }
      broken.append(Broken(plan: plan, violation: violation, number: search.runs))
    }
  }

  private typealias Shown = (run: RunResult, seen: [UInt64])

  private func results(of plans: [GuidedSearch.Plan]) throws -> [Shown] {
    let choice = choice
    guard jobs > 1 else { return try plans.map { try choice.machineRunner.run($0) } }
    let results = Locked([Result<Shown, any Error>?](repeating: nil, count: plans.count))
    let next = Locked(0)
    DispatchQueue.concurrentPerform(iterations: min(jobs, plans.count)) { _ in
      while true {
        let place = next.withLock { place in
          defer { place += 1 }
          return place
        }
        guard plans.indices.contains(place) else { return }
        let result = Result { try choice.machineRunner.run(plans[place]) }
        results.withLock { $0[place] = result }
      }
    }
    return try results.value.compactMap { try $0?.get() }
  }
}

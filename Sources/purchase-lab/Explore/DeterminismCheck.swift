import CommandLineTools
import Exploration
import Foundation
import PurchaseSQLite

/// `explore --check-determinism`: every run twice, in two processes, whose hashing is seeded differently (invariant 28).
struct DeterminismCheck {
  let choice: SimulationChoice
  /// Threads; each has a child process.
  var jobs = 1
  /// This program, for the other process.
  var program = ChildProcess.executable.path

  func execute(_ limits: ExploreLimits, of all: Int) throws -> Int32 {
    let hashes = Locked<[UInt64]>([])
    let progress = ExploreProgress(limits, marks: choice.catalogue.marks.count)
    let sum = try compare(limits, hashes) { progress.show($0) }
    progress.clear()
    if let failure = sum.failure {
      Terminal.line(try difference(failure.seed))
      return ExitCode.promiseBroken
    }
    Terminal.line(Self.verdict(sum.runs, of: all, different: Set(hashes.value).count))
    return Interruption.shared.exitCode ?? ExitCode.ok
  }

  /// - Parameter done: How many seeds were compared until the end or an interruption.
  static func verdict(_ done: Int, of all: Int, different: Int) -> String {
    guard done > 0 else { return "ended before any of \(Counted.text(all, "seed")) was compared" }
    let same =
      Counted.text(done, "seed is", "seeds are") + " the same run in two processes: "
      + Counted.text(different, "different run")
    return done < all ? same + ", ended before its time" : same
  }

  /// The first difference in these seeds; nil for none.
  func divergence(_ seeds: Range<UInt64>) throws -> String? {
    let limits = ExploreLimits(from: seeds.lowerBound, seeds: UInt64(seeds.count), failures: 1)
    return try compare(limits, Locked([])) { _ in }.failure.map { try difference($0.seed) }
  }

  private func compare(
    _ limits: ExploreLimits, _ hashes: Locked<[UInt64]>, _ watch: @escaping @Sendable (RunSum) -> Void
  ) throws -> RunSum {
    let explorer = Explorer(choice, jobs: jobs) { [program, choice] in
      ComparingRunner(here: choice.runner(), there: ChildRunner(choice, program: program), hashes)
    }
    return try explorer.run(limits, watch: watch)
  }

  // MARK: The first difference

  /// Runs the seed once more in both processes, with every draw recorded.
  private func difference(_ seed: UInt64) throws -> String {
    let (here, there) = (choice.runner(), ChildRunner(choice, program: program))
    if let draw = Self.firstDifference(try here.draws(of: seed), try there.draws(of: seed)) {
      return "seed \(seed): \(draw)"
    }
    let (own, other) = (try here.trace(of: seed), try there.trace(of: seed))
    let pair = zip(own.lines, other.lines).first { $0 != $1 }
    let event =
      pair.map { "\n  \($0) (here)\n  \($1) (there)" }
      ?? ", of \(own.result.events) and \(other.result.events) events"
    return "seed \(seed): the same draws, and another run" + event
  }

  /// `draw 43 of the network at day 2 03:04:11, event 812: 7 here, 9 there`; nil if they are the same.
  static func firstDifference(_ here: [Draw], _ there: [Draw]) -> String? {
    for (left, right) in zip(here, there) where left != right {
      guard left.stream == right.stream, left.number == right.number, left.bound == right.bound else {
        return "\(name(left)) here, \(name(right)) there"
      }
      let isShown = left.value != right.value
      return name(left) + ": \(isShown ? left.value : left.bits) here, "
        + "\(isShown ? right.value : right.bits) there"
    }
    let (short, long) = (min(here.count, there.count), here.count > there.count ? here : there)
    guard long.count > short else { return nil }
    return name(long[short]) + ": only \(here.count > there.count ? "here" : "there")"
  }

  private static func name(_ draw: Draw) -> String {
    let (day, time) = (draw.at / 86_400_000, draw.at / 1_000 % 86_400)
    let clock = [time / 3_600, time / 60 % 60, time % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
    return "draw \(draw.number) of the \(draw.stream) at day \(day) \(clock.joined(separator: ":")), "
      + "event \(draw.event)"
  }
}

/// Runs each seed here and in another process at the same time. Two runs that differ count as a broken invariant.
private struct ComparingRunner: SimulationRunner {
  let here: any SimulationRunner
  let there: ChildRunner
  let hashes: Locked<[UInt64]>

  init(here: any SimulationRunner, there: ChildRunner, _ hashes: Locked<[UInt64]>) {
    (self.here, self.there, self.hashes) = (here, there, hashes)
  }

  var catalogue: SimulationCatalogue { here.catalogue }

  func run(_ seed: UInt64, keeping places: [Int]?, stopAt last: Int) throws -> RunResult {
    try there.begin(.init(seed: seed, places: places, last: last))
    var result = try here.run(seed, keeping: places, stopAt: last)
    let isSame = result.isSameRun(as: try there.finishRun(seed))
    hashes.withLock { $0.append(result.hash) }
    // A process that died has compared nothing: its violation stays.
    if result.events > 0 { result.violation = nil }
    if !isSame {
      result.violation = Violation(
        invariant: 28, sentence: "a seed gives the same run in every process", what: "two runs differ",
        event: result.events, at: 0)
    }
    return result
  }

  func trace(of seed: UInt64, keeping places: [Int]?, stopAt last: Int) throws -> TracedRun {
    try here.trace(of: seed, keeping: places, stopAt: last)
  }

  func draws(of seed: UInt64) throws -> [Draw] { try here.draws(of: seed) }
  func acts(of seed: UInt64) -> [PlannedAct] { here.acts(of: seed) }
  func knobs(of seed: UInt64) -> KnobDescription { here.knobs(of: seed) }
}

import CommandLineTools
import Exploration
import Foundation

/// The content of `explore --report`. Written as JSON into the page (`ReportPage.html(_:)`); the page's script reads
/// exactly these names.
struct ExplorePage: Encodable {
  var title: String
  /// The command that made the page.
  var command: String
  /// ISO 8601.
  var madeAt: String
  /// Whether everything held.
  var isGood: Bool
  /// One sentence.
  var verdict: String
  /// Other complaints, a sentence each.
  var complaints: [String]
  /// Shown on top.
  var figures: [ReportFigure]
  var distributions: [Distribution]
  var invariants: [ExploredInvariant]
  /// Invariants that other tests check.
  var elsewhere: [String]
  var marks: [ExploredMark]
  /// How many runs the knobs were counted in.
  var runs: Int
  var knobs: [Knob]
  var failureCount: Int
  /// The first ones.
  var failures: [Failure]
  /// Of a guided search.
  var guided: GuidedFigures?

  /// One knob, and how many runs had which value.
  struct Knob: Encodable {
    var name: String
    /// The number of runs, or of values, of which the bars are shares.
    var count: Int
    var bars: [Distribution.Bar]
  }

  struct Failure: Encodable {
    /// Text: numbers of this size are not exact in JavaScript.
    var seed: String
    var invariant: InvariantNumber
    var sentence: String
    var what: String
    /// How many acts it has; nil if it was not made small.
    var acts: Int?
    /// The knobs of the seed and the events of the run, a line each.
    var trace: [String]
    /// The command that replays it.
    var replay: String
  }
}

extension ExplorePage {
  init(_ report: ExploreReport, scenarios: [FailureScenario], command: String, madeAt: Date) {
    let (choice, sum) = (report.options.choice, report.sum)
    title = "purchase-lab explore"
    self.command = command
    self.madeAt = madeAt.ISO8601Format()
    isGood = report.isGood
    verdict = report.verdict
    complaints = report.rarelyExercised.map {
      "invariant \($0.number) was exercised \(Counted.text($0.exercised, "time")), not \($0.minimum)"
    }
    let events = choice.isEngine ? "jobs" : "events"
    let named: [(String, String)] = [
      ("simulation", choice.isEngine ? "engine" : "machine"), ("profile", choice.profile.rawValue),
      ("storage", choice.storageName), ("runs", "\(sum.runs)"), ("first seed", "\(report.options.from)"),
      ("purchases", "\(sum.figures.purchases)"), (events, "\(sum.events)"),
      ("seconds", Table.seconds(report.seconds)), ("runs/s", "\(report.rate(sum.runs))"),
      ("purchases/s", "\(report.rate(sum.figures.purchases))"), ("\(events)/s", "\(report.rate(sum.events))"),
      ("marks hit", "\(sum.marksHit) of \(report.marks.count)"), ("failures", "\(sum.failures)"),
    ]
    figures = named.map { ReportFigure(name: $0.0, value: $0.1) }
    distributions = report.distributions
    invariants = report.invariants
    elsewhere = report.catalogue.elsewhere
    marks = report.marks
    runs = sum.knobs.runs
    knobs = sum.knobs.names.map { name in
      let values = sum.knobs.values(of: name)
      let isOfRuns = values.allSatisfy(\.isOfRuns)
      return Knob(
        name: name, count: isOfRuns ? sum.knobs.runs : values.map(\.count).reduce(0, +),
        bars: values.map { Distribution.Bar(label: $0.label, count: $0.count) })
    }
    failureCount = sum.failures
    guided = report.guided
    failures = sum.broken.map { failure in
      let small = scenarios.first { $0.seed == failure.seed }
      let violation = small?.shrinking.violation ?? failure.violation
      return Failure(
        seed: String(failure.seed), invariant: violation.invariant, sentence: violation.sentence,
        what: violation.what, acts: small?.shrinking.places.count, trace: small?.trace ?? [],
        replay: small?.replay
          ?? FailureScenario.replay(choice, seed: failure.seed, stopAt: failure.violation.event))
    }
  }

  /// The page of a guided search.
  init(_ report: ExploreReport, guided failures: [GuidedFailure], command: String, madeAt: Date) {
    self.init(report, scenarios: [], command: command, madeAt: madeAt)
    self.failures = failures.map { failure in
      Failure(
        seed: String(failure.input.seed), invariant: failure.violation.invariant,
        sentence: failure.violation.sentence, what: failure.violation.what, acts: failure.input.acts.count,
        trace: failure.trace, replay: failure.replay)
    }
  }
}

extension ExplorePage: ReportContent {
  static var template: Data { ReportFiles.explore }
}

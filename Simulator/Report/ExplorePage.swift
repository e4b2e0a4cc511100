import FaultInjection
import Foundation

/// What `explore --report` shows. Written as JSON into the page (`ReportPage.html(_:)`); the page's script reads
/// exactly these names.
struct ExplorePage: Encodable {
  var title: String
  /// The line that made it.
  var command: String
  /// ISO 8601.
  var madeAt: String
  /// Whether everything held.
  var isGood: Bool
  /// One sentence.
  var verdict: String
  /// What counts against it beside failures, a sentence each.
  var complaints: [String]
  /// Shown on top.
  var figures: [Report.Figure]
  var distributions: [Distribution]
  var invariants: [ExploredInvariant]
  /// Which invariants are seen to elsewhere.
  var elsewhere: [String]
  var marks: [MarkRow]
  /// How many worlds the knobs were counted of.
  var worlds: Int
  var knobs: [Knob]
  var failureCount: Int
  /// The first ones.
  var failures: [Failure]

  struct MarkRow: Encodable {
    var name: String
    var sentence: String
    var hits: Int
    /// No life of this run can hit it.
    var isOutOfReach: Bool
  }

  /// One knob, and how many worlds had it how.
  struct Knob: Encodable {
    var name: String
    /// Of how many worlds, or faults, these are.
    var count: Int
    var bars: [Distribution.Bar]
  }

  struct Failure: Encodable {
    /// A text: scripts have no whole numbers of this size.
    var seed: String
    var invariant: Int
    var sentence: String
    var what: String
    /// Of how many acts; nil if nobody made it small.
    var acts: Int?
    /// What its seed drew, and what happened, a line each.
    var story: [String]
    /// The command that shows it again.
    var replay: String
  }
}

extension ExplorePage {
  init(_ report: ExploreReport, stories: [FailureStory], command: String, madeAt: Date) {
    let (options, sum) = (report.options, report.sum)
    title = "purchase-simulator explore"
    self.command = command
    self.madeAt = madeAt.ISO8601Format()
    isGood = report.isGood
    verdict = report.verdict
    complaints = report.rarelyExercised.map {
      "invariant \($0.rawValue) was exercised \(Counted.text(sum.exercised($0), "time")), not \($0.minimum)"
    }
    figures = [
      .init(name: "profile", value: options.profile.rawValue),
      .init(name: "storage", value: options.storage.rawValue), .init(name: "lives", value: "\(sum.seeds)"),
      .init(name: "first seed", value: "\(options.from)"),
      .init(name: "purchases", value: "\(sum.figures.purchases)"),
      .init(name: "events", value: "\(sum.events)"),
      .init(name: "seconds", value: Table.seconds(report.seconds)),
      .init(name: "lives/s", value: "\(report.rate(sum.seeds))"),
      .init(name: "purchases/s", value: "\(report.rate(sum.figures.purchases))"),
      .init(name: "events/s", value: "\(report.rate(sum.events))"),
      .init(name: "marks hit", value: "\(sum.marksHit) of \(Mark.allCases.count)"),
      .init(name: "failures", value: "\(sum.failures)"),
    ]
    distributions = report.distributions
    invariants = report.invariants
    elsewhere = Invariant.elsewhere
    marks = Mark.allCases.map {
      MarkRow(
        name: "\($0)", sentence: $0.sentence, hits: sum.hits($0), isOutOfReach: report.isOutOfReach($0))
    }
    worlds = sum.knobs.worlds
    knobs = Self.knobs(sum.knobs)
    failureCount = sum.failures
    failures = sum.broken.map { failure in
      Failure(failure, of: options, stories.first { $0.seed == failure.seed })
    }
  }

  private static func knobs(_ tally: KnobTally) -> [Knob] {
    typealias Bar = Distribution.Bar
    var knobs = KnobTally.Knob.allCases.map { knob in
      Knob(
        name: knob.rawValue, count: tally.worlds,
        bars: tally.values(of: knob).map { Bar(label: knob.label($0.value), count: $0.worlds) })
    }
    knobs.append(
      Knob(
        name: "kinds of fault that a world has", count: tally.worlds,
        bars: Fault.allCases.map { Bar(label: "\($0)", count: tally.faults[Int($0.rawValue)]) }))
    knobs.append(
      Knob(
        name: "how often a fault strikes while it lasts", count: tally.strengths.values.reduce(0, +),
        bars: tally.strengths.sorted { $0.key < $1.key }.map {
          Bar(label: "\($0.key) of 1000 times", count: $0.value)
        }))
    knobs.append(
      Knob(
        name: "what happens to a world", count: tally.worlds,
        bars: tally.acts.sorted { $0.key < $1.key }.map { Bar(label: $0.key, count: $0.value) }))
    return knobs
  }
}

extension ExplorePage.Failure {
  init(_ failure: ExplorationSum.Failure, of options: ExploreOptions, _ small: FailureStory?) {
    seed = String(failure.seed)
    invariant = failure.violation.invariant.rawValue
    sentence = failure.violation.invariant.sentence
    what = small?.shrinking.violation.what ?? failure.violation.what
    acts = small?.shrinking.places.count
    story = small?.told ?? []
    replay =
      small?.replay
      ?? FailureStory.replay(
        seed: failure.seed, options.profile, options.storage, nil, stopAt: failure.violation.event)
  }
}

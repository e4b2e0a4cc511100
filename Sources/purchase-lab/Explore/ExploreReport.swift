import CommandLineTools
import Exploration

/// The result of an exploration as text and as a document for programs.
struct ExploreReport {
  let options: ExploreOptions
  let sum: RunSum
  let seconds: Double
  /// An interruption ended the exploration early, so it proves nothing.
  var wasInterrupted = false
  /// Of a guided search.
  var guided: GuidedFigures?

  var catalogue: SimulationCatalogue { options.choice.catalogue }

  /// Fewer seeds say nothing about rare paths.
  private var isLarge: Bool { options.choice.profile == .swarm && sum.runs >= 1_000 }

  var rarelyExercised: [ExploredInvariant] { invariants.filter(\.isRare) }

  /// Marks that no run hit, of those that this simulation can hit.
  var missedMarks: [ExploredMark] { marks.filter { $0.hits == 0 && !$0.isOutOfReach } }

  var isGood: Bool {
    sum.failures == 0 && !wasInterrupted && rarelyExercised.isEmpty && (missedMarks.isEmpty || !isLarge)
  }

  func rate(_ count: Int) -> Int { Int(Double(count) / max(seconds, 0.001)) }

  /// Of the machine's simulation: it measures deliveries.
  var distributions: [Distribution] {
    options.choice.isEngine ? [] : Distribution.all(of: sum.figures)
  }

  var invariants: [ExploredInvariant] {
    catalogue.invariants.enumerated().map { place, promise in
      let exercised = sum.exercised(at: place)
      return ExploredInvariant(
        number: promise.number, sentence: promise.sentence, exercised: exercised,
        broken: sum.brokenInvariants[promise.number] ?? 0, isRare: isLarge && exercised < promise.minimum,
        minimum: promise.minimum)
    }
  }

  var marks: [ExploredMark] {
    catalogue.marks.enumerated().map { place, mark in
      // The vault of a disk in memory keeps orders only.
      let hasRealVault = options.choice.isEngine || options.choice.storage == .sqlite
      let isOutOfReach = !hasRealVault && mark.name == "\(MachineMark.vaultRestored)"
      return ExploredMark(
        name: mark.name, sentence: mark.sentence, hits: sum.hits(at: place), isOutOfReach: isOutOfReach)
    }
  }

  // MARK: Text

  var lines: [String] {
    let purchases = sum.figures.purchases
    let events = options.choice.isEngine ? "job" : "event"
    var lines = [
      Counted.text(sum.runs, "run") + ", " + Counted.text(purchases, "purchase") + ", "
        + Counted.text(sum.events, events) + " in \(Table.seconds(seconds)) s: "
        + "\(rate(sum.runs)) runs/s, \(rate(purchases)) purchases/s, \(rate(sum.events)) \(events)s/s",
      "", " exercised  invariant",
    ]
    for invariant in invariants { lines += invariant.lines }
    if !catalogue.elsewhere.isEmpty {
      lines += ["", "checked elsewhere: " + catalogue.elsewhere.joined(separator: "; ")]
    }
    lines.append("")
    lines += distributions.map {
      "\($0.name): median \($0.median), 99 % \($0.almostAll), most \($0.most) (\($0.unit))"
    }
    if !distributions.isEmpty { lines.append("") }
    lines += guided?.lines ?? []
    lines += ["marks: " + marks.map { "\($0.name) \($0.hits)" }.joined(separator: ", "), ""]
    if !missedMarks.isEmpty {
      let names = missedMarks.map(\.name).joined(separator: ", ")
      lines.append("not hit: \(names)" + (isLarge ? "" : "; that counts from 1000 seeds of the swarm"))
    }
    lines += rarelyExercised.map {
      "invariant \($0.number) was exercised too rarely: " + Counted.text($0.exercised, "time")
        + ", not \($0.minimum)"
    }
    for failure in sum.broken {
      lines.append("seed \(failure.seed): \(failure.violation.invariant), \(failure.violation.what)")
    }
    return lines + [verdict]
  }

  /// One line.
  var verdict: String {
    if sum.failures > 0 {
      return "\(sum.failures) of \(Counted.text(sum.runs, "run")) broke an invariant"
    }
    let what = "no invariant was broken"
    if wasInterrupted { return what + " until the interruption" }
    if !rarelyExercised.isEmpty { return what + ", but some were exercised too rarely" }
    return isGood ? what : what + ", but not every mark was hit"
  }

  // MARK: For programs

  var document: ExploreDocument { ExploreDocument(self) }
}

/// How often the runs checked an invariant, and how many broke it.
struct ExploredInvariant: Encodable {
  var number: InvariantNumber
  var sentence: String
  var exercised: Int
  /// How many runs broke it.
  var broken: Int
  /// It was checked too rarely to show anything.
  var isRare: Bool
  var minimum: Int

  private enum CodingKeys: String, CodingKey {
    case number, sentence, exercised, broken, isRare
  }

  fileprivate var lines: [String] {
    let head = Table.left(String(exercised), 10) + Table.left(number.text, 4) + "  "
    let broken = broken > 0 ? ["BROKEN in " + Counted.text(broken, "run")] : []
    return (WrappedText.lines(sentence, width: 64) + broken).enumerated().map {
      ($0 == 0 ? head : String(repeating: " ", count: 16)) + $1
    }
  }
}

/// How often the runs hit a mark.
struct ExploredMark: Encodable {
  var name: String
  var sentence: String
  var hits: Int
  /// No run with these options can hit it.
  var isOutOfReach: Bool
}

/// The document that `--json` prints.
struct ExploreDocument: Encodable {
  struct FailureRow: Encodable {
    var seed: UInt64
    var invariant: InvariantNumber
    var what: String
  }

  /// `machine` or `engine`.
  var simulation: String
  var profile: String
  var storage: String
  var from: UInt64
  var seeds: Int
  var purchases: Int
  var events: Int
  var draws: Int
  var seconds: Double
  var seedsPerSecond: Int
  var purchasesPerSecond: Int
  var good: Bool
  var verdict: String
  var failures: Int
  /// The first ones.
  var failing: [FailureRow]
  var invariants: [ExploredInvariant]
  var exercisedTooRarely: [InvariantNumber]
  /// Hits by name.
  var marks: [String: Int]
  var missedMarks: [String]
  var distributions: [Distribution]
  /// Of a guided search.
  var guided: GuidedFigures?

  init(_ report: ExploreReport) {
    let (options, sum) = (report.options, report.sum)
    simulation = options.choice.isEngine ? "engine" : "machine"
    profile = options.choice.profile.rawValue
    storage = options.choice.storageName
    from = options.from
    seeds = sum.runs
    purchases = sum.figures.purchases
    events = sum.events
    draws = sum.draws
    seconds = report.seconds
    seedsPerSecond = report.rate(sum.runs)
    purchasesPerSecond = report.rate(sum.figures.purchases)
    good = report.isGood
    verdict = report.verdict
    failures = sum.failures
    failing = sum.broken.map {
      FailureRow(seed: $0.seed, invariant: $0.violation.invariant, what: $0.violation.what)
    }
    invariants = report.invariants
    exercisedTooRarely = report.rarelyExercised.map(\.number)
    marks = Dictionary(uniqueKeysWithValues: report.marks.map { ($0.name, $0.hits) })
    missedMarks = report.missedMarks.map(\.name)
    distributions = report.distributions
    guided = report.guided
  }
}

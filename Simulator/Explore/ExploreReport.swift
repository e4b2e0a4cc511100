import FaultInjection

/// What an exploration found: whether it is good, as text, and as a document for programs.
struct ExploreReport {
  let options: ExploreOptions
  let sum: ExplorationSum
  let seconds: Double
  /// Somebody ended it before its time: it promises nothing.
  var wasInterrupted = false

  /// Runs of fewer seeds say nothing about rare paths.
  private var isLarge: Bool { options.profile == .swarm && sum.seeds >= 1_000 }

  var rarelyExercised: [Invariant] {
    guard isLarge else { return [] }
    return Invariant.allCases.filter { sum.exercised($0) < $0.minimum }
  }

  /// Marks that no life hit, of those that can be.
  var missedMarks: [Mark] {
    Mark.allCases.filter { sum.hits($0) == 0 && !isOutOfReach($0) }
  }

  /// The vault of a disk in memory keeps orders only.
  func isOutOfReach(_ mark: Mark) -> Bool { mark == .vaultRestored && options.storage == .memory }

  var isGood: Bool {
    sum.failures == 0 && !wasInterrupted && rarelyExercised.isEmpty && (missedMarks.isEmpty || !isLarge)
  }

  func rate(_ count: Int) -> Int { Int(Double(count) / max(seconds, 0.001)) }

  var distributions: [Distribution] { Distribution.all(of: sum.figures) }

  // MARK: Text

  var lines: [String] {
    let purchases = sum.figures.purchases
    var lines = [
      Counted.text(sum.seeds, "life", "lives") + ", " + Counted.text(purchases, "purchase") + ", "
        + Counted.text(sum.events, "event") + " in \(Table.seconds(seconds)) s: "
        + "\(rate(sum.seeds)) lives/s, \(rate(purchases)) purchases/s, \(rate(sum.events)) events/s",
      "", " exercised  invariant",
    ]
    for invariant in Invariant.allCases { lines += Self.lines(of: invariant, sum) }
    lines += ["", "elsewhere: " + Invariant.elsewhere.joined(separator: "; "), ""]
    lines += distributions.map {
      "\($0.name): median \($0.median), 99 % \($0.almostAll), most \($0.most) (\($0.unit))"
    }
    lines += ["", "marks: " + Mark.allCases.map { "\($0) \(sum.hits($0))" }.joined(separator: ", "), ""]
    if !missedMarks.isEmpty {
      let names = missedMarks.map { "\($0)" }.joined(separator: ", ")
      lines.append("not hit: \(names)" + (isLarge ? "" : "; that counts from 1000 seeds of the swarm"))
    }
    for invariant in rarelyExercised {
      lines.append(
        "invariant \(invariant.rawValue) was exercised too rarely: "
          + Counted.text(sum.exercised(invariant), "time") + ", not "
          + "\(invariant.minimum)")
    }
    for failure in sum.broken {
      lines.append("seed \(failure.seed): \(failure.violation.invariant.rawValue), \(failure.violation.what)")
    }
    return lines + [verdict]
  }

  private static func lines(of invariant: Invariant, _ sum: ExplorationSum) -> [String] {
    let sentence = WrappedText.lines(invariant.sentence, width: 64)
    let broken =
      sum.brokenInvariants[invariant].map { ["BROKEN in " + Counted.text($0, "life", "lives")] } ?? []
    let head =
      Table.left(String(sum.exercised(invariant)), 10) + Table.left(String(invariant.rawValue), 4) + "  "
    return (sentence + broken).enumerated().map {
      ($0 == 0 ? head : String(repeating: " ", count: 16)) + $1
    }
  }

  /// One line.
  var verdict: String {
    if sum.failures > 0 {
      return "\(sum.failures) of \(Counted.text(sum.seeds, "life", "lives")) broke an invariant"
    }
    let what = "no invariant was broken"
    if wasInterrupted { return what + " until it was ended before its time" }
    if !rarelyExercised.isEmpty { return what + ", but some were exercised too rarely" }
    return isGood ? what : what + ", but not every mark was hit"
  }

  var invariants: [ExploredInvariant] {
    let rare = rarelyExercised
    return Invariant.allCases.map {
      ExploredInvariant(
        number: $0.rawValue, sentence: $0.sentence, exercised: sum.exercised($0),
        broken: sum.brokenInvariants[$0] ?? 0, isRare: rare.contains($0))
    }
  }

  // MARK: For programs

  var document: ExploreDocument { ExploreDocument(self) }
}

/// How an exploration went for one invariant.
struct ExploredInvariant: Encodable {
  var number: Int
  var sentence: String
  var exercised: Int
  /// How many lives broke it.
  var broken: Int
  /// It was exercised too rarely to say anything.
  var isRare: Bool
}

/// What `--json` prints of an exploration.
struct ExploreDocument: Encodable {
  struct FailureRow: Encodable {
    var seed: UInt64
    var invariant: Int
    var what: String
  }

  var profile: String
  var storage: String
  var from: UInt64
  var seeds: Int
  var purchases: Int
  var events: Int
  var seconds: Double
  var seedsPerSecond: Int
  var purchasesPerSecond: Int
  var good: Bool
  var verdict: String
  var failures: Int
  /// The first ones.
  var failing: [FailureRow]
  var invariants: [ExploredInvariant]
  var exercisedTooRarely: [Int]
  /// Hits by name.
  var marks: [String: Int]
  var missedMarks: [String]
  var distributions: [Distribution]

  init(_ report: ExploreReport) {
    let (options, sum) = (report.options, report.sum)
    profile = options.profile.rawValue
    storage = options.storage.rawValue
    from = options.from
    seeds = sum.seeds
    purchases = sum.figures.purchases
    events = sum.events
    seconds = report.seconds
    seedsPerSecond = report.rate(sum.seeds)
    purchasesPerSecond = report.rate(sum.figures.purchases)
    good = report.isGood
    verdict = report.verdict
    failures = sum.failures
    failing = sum.broken.map {
      FailureRow(seed: $0.seed, invariant: $0.violation.invariant.rawValue, what: $0.violation.what)
    }
    invariants = report.invariants
    exercisedTooRarely = report.rarelyExercised.map(\.rawValue)
    marks = Dictionary(uniqueKeysWithValues: Mark.allCases.map { ("\($0)", sum.hits($0)) })
    missedMarks = report.missedMarks.map { "\($0)" }
    distributions = report.distributions
  }
}

import CommandLineTools
import Exploration

/// The result of an exhaustive search as text and as a document for programs.
struct ExhaustiveReport {
  let world: SmallWorld
  let result: ExhaustiveResult
  let seconds: Double
  /// Searches with another kind of purchase, which follow if this one is good.
  var others: [ExhaustiveReport] = []

  var isGood: Bool { result.isClosed && result.violation == nil && others.allSatisfy(\.isGood) }

  private var figures: [String] {
    [
      "the small world: " + world.sentence,
      "\(result.states) states, \(result.transitions) transitions, depth \(result.depth), "
        + (result.isClosed ? "closed" : "not closed") + ", in \(Table.seconds(seconds)) s",
      "\(result.machineSteps) steps of the production machine, a table of \(result.bytes >> 20) MiB", "",
    ]
  }

  var lines: [String] {
    var lines =
      figures + [
        "checked in each state and at each step: invariants "
          + SmallWorld.invariants.map { "\($0.number)" }.joined(separator: ", "),
        SmallWorld.fairness, "", "not in this world:",
      ]
    lines += SmallWorld.leftOut.map { "- " + $0 } + [""]
    if let violation = result.violation { lines += Self.lines(of: violation) + [""] }
    lines.append(verdict)
    for other in others {
      lines += [""] + other.figures
      if let violation = other.result.violation { lines += Self.lines(of: violation) + [""] }
      lines.append(other.verdict)
    }
    return lines
  }

  /// One line.
  var verdict: String {
    if result.violation != nil { return "an invariant is broken" }
    let what = "no state and no step breaks an invariant"
    guard !result.isClosed else { return what + ", and from each state everything paid is delivered" }
    return "not closed: \(result.reason ?? "it ended early"); in what was visited, " + what
  }

  static func lines(of violation: ExhaustiveViolation) -> [String] {
    var lines = violation.steps.enumerated().map { "\(Table.left(String($0 + 1), 3)). \($1)" }
    lines.append("invariant \(violation.invariant), \(violation.sentence): \(violation.what)")
    return lines
  }

  // MARK: For programs

  struct Document: Encodable {
    var world: String
    var states: Int
    var transitions: Int
    var depth: Int
    var closed: Bool
    /// Why it is not closed; nil if it is.
    var reason: String?
    /// How many were found. The search ends with the first.
    var violations: Int
    var violation: Trace?
    var seconds: Double
    var machineSteps: Int
    var bytes: Int
    var leftOut: [String]
    var others: [Document]
    var good: Bool
  }

  struct Trace: Encodable {
    var invariant: InvariantNumber
    var sentence: String
    var what: String
    var steps: [String]

    init(_ violation: ExhaustiveViolation) {
      (invariant, sentence) = (violation.invariant, violation.sentence)
      (what, steps) = (violation.what, violation.steps)
    }
  }

  var document: Document {
    Document(
      world: world.sentence, states: result.states, transitions: result.transitions, depth: result.depth,
      closed: result.isClosed, reason: result.reason, violations: result.violation == nil ? 0 : 1,
      violation: result.violation.map(Trace.init), seconds: seconds, machineSteps: result.machineSteps,
      bytes: result.bytes, leftOut: SmallWorld.leftOut,
      others: others.map(\.document), good: isGood)
  }
}

/// How the search found a planted bug.
struct ExhaustiveFinding: Encodable {
  var plant: String
  var summary: String
  var world: String
  /// What it breaks, after a shortest way; nil if it was not found.
  var violation: ExhaustiveReport.Trace?
  var states: Int
  var seconds: Double

  struct Document: Encodable {
    var plants: [ExhaustiveFinding]
    var good: Bool
  }

  init(_ bug: ExhaustiveBug, _ result: ExhaustiveResult, _ seconds: Double) {
    (plant, summary, world) = (bug.rawValue, bug.summary, bug.world.sentence)
    violation = result.violation.map(ExhaustiveReport.Trace.init)
    (states, self.seconds) = (result.states, seconds)
  }

  var isFound: Bool { violation != nil }

  static func lines(_ all: [ExhaustiveFinding]) -> [String] {
    var table = [["planted bug", "invariant", "steps", "states", "seconds"]]
    for finding in all {
      table.append([
        finding.plant, finding.violation?.invariant.text ?? "not found",
        finding.violation.map { String($0.steps.count) } ?? "", String(finding.states),
        Table.seconds(finding.seconds),
      ])
    }
    var lines = TextTable.lines(table)
    for finding in all {
      guard let violation = finding.violation else { continue }
      lines += ["", "\(finding.plant): \(finding.summary)"]
      lines += violation.steps.enumerated().map { "\(Table.left(String($0 + 1), 3)). \($1)" }
      lines.append("invariant \(violation.invariant): \(violation.what)")
    }
    return lines + [""]
  }
}

import CommandLineTools
import Exploration
import Foundation
import Specification

/// `explore --plant`: an invariant has to find each planted bug, and its scenario has to be small.
///
/// The search runs the requested seeds in one profile after the other, or in the requested one. It finds the first
/// failing seed, for any number of threads.
struct BugSearch {
  let options: ExploreOptions
  let choice: SimulationChoice

  private var seeds: Range<UInt64> { options.from..<options.from + UInt64(options.seeds) }

  private var profiles: [SimulationProfile] {
    options.hasOwnProfile || choice.isEngine ? [choice.profile] : Self.profiles
  }

  /// A scenario with so many acts is small.
  private static let smallest = 12
  /// So many runs at a time, where all failures count and not only the first.
  private static let more = 64
  /// So many failures are tried, those after the fewest acts first.
  private static let mostFailures = 8
  /// Where bugs of a kind are likely; the swarm finds the rest.
  private static let profiles: [SimulationProfile] = [
    .swarm, .crash, .accounts, .store, .subscriptions, .network,
  ]

  /// The scenario of one bug is for reading. Of all, it is only asked whether each is small.
  private var enough: Int { options.choice.bug == "all" ? Self.smallest : 0 }

  struct Found {
    var failure: RunSum.Failure
    var profile: SimulationProfile
    var seeds: Int
  }

  /// The result of the search for one bug.
  struct Row: Encodable {
    var plant: String
    var summary: String
    /// The invariant that it broke; nil if it was not found.
    var invariant: InvariantNumber?
    /// With `--specification`: the rule of the protocol, and the first step that it does not allow.
    var rule: String?
    var step: String?
    /// How many runs there are up to the first that breaks it.
    var seeds: Int?
    var acts: Int?
    var runs: Int?
    var seconds: Double
    var replay: String?

    /// Whether the rule is one of those that the bug breaks.
    var isOwnRule = true

    var isGood: Bool { invariant != nil && isOwnRule && (acts ?? 0) <= BugSearch.smallest }

    private enum CodingKeys: CodingKey {
      case plant, summary, invariant, rule, step, seeds, acts, runs, seconds, replay
    }
  }

  private struct Document: Encodable {
    var plants: [Row]
    /// Invariants that no planted bug breaks.
    var notBroken: [InvariantNumber]
    var good: Bool
  }

  func execute(_ name: String) throws -> Int32 {
    let known = choice.checksProtocol ? choice.catalogue.protocolBugs : choice.catalogue.bugs
    let bugs = known.filter { name == "all" || $0.name == name }
    let progress = Progress(count: bugs.count, isShown: true)
    var rows: [Row] = []
    var scenarios: [FailureScenario] = []
    for bug in bugs where !Interruption.shared.isAsked {
      let (row, scenario) = try look(for: bug)
      if Interruption.shared.isAsked { break }
      rows.append(row)
      if let scenario { scenarios.append(scenario) }
      progress.step()
    }
    let isWhole = rows.count == bugs.count
    let coverage = name == "all" && isWhole && !choice.checksProtocol ? try cover(rows) : nil
    progress.end()
    let isGood = isWhole && rows.allSatisfy(\.isGood) && coverage?.isWhole ?? true
    if options.json {
      Terminal.json(Document(plants: rows, notBroken: coverage?.missing ?? [], good: isGood))
    } else {
      tell(rows, scenarios, coverage)
      Terminal.line(Self.verdict(isWhole ? nil : rows.count, of: bugs.count, isGood))
    }
    for scenario in options.scenarios == nil ? [] : scenarios {
      let line = try scenario.file(below: options.scenarios ?? "")
      if options.json { Terminal.error(line) } else { Terminal.line(line) }
    }
    if let code = Interruption.shared.exitCode { return code }
    return isGood ? ExitCode.ok : ExitCode.promiseBroken
  }

  /// - Parameter ended: After how many bugs an interruption ended the search; nil for none.
  static func verdict(_ ended: Int?, of all: Int, _ isGood: Bool) -> String {
    switch ended {
    case nil: isGood ? "every planted bug was found" : "not every planted bug was found, or made small"
    case 0: "ended before " + (all == 1 ? "the planted bug" : "any of \(all) planted bugs") + " was found"
    case let count?: "ended after \(count) of \(all) planted bugs"
    }
  }

  /// The first failing run may break another invariant than the one that a bug is made for: then more runs follow.
  private func cover(_ rows: [Row]) throws -> BugCoverage {
    var coverage = BugCoverage(choice.catalogue, rows)
    for invariant in coverage.missing {
      let bug = choice.catalogue.invariants.first { $0.number == invariant }?.bug
      for profile in profiles where coverage.missing.contains(invariant) {
        let explorer = Explorer(planting(bug, profile), jobs: options.jobs)
        var left = seeds
        while !left.isEmpty, coverage.missing.contains(invariant), !Interruption.shared.isAsked {
          let batch = left.prefix(Self.more)
          coverage.add(try explorer.run(batch))
          left = batch.upperBound..<left.upperBound
        }
      }
    }
    return coverage
  }

  private func tell(_ rows: [Row], _ scenarios: [FailureScenario], _ coverage: BugCoverage?) {
    var table = [["planted bug", "invariant", "seeds", "acts", "runs", "seconds"]]
    for row in rows {
      func text(_ number: Int?) -> String { number.map(String.init) ?? "" }
      table.append([
        row.plant, row.invariant?.text ?? "not found", text(row.seeds), text(row.acts), text(row.runs),
        Table.seconds(row.seconds),
      ])
    }
    TextTable.lines(table).forEach(Terminal.line)
    for row in rows {
      guard let rule = row.rule, let step = row.step else { continue }
      Terminal.line(
        "\(row.plant): \(step). Refused: \(rule)" + (row.isOwnRule ? "" : ", which is another bug's"))
    }
    if !choice.catalogue.bugsElsewhere.isEmpty {
      let bugs = choice.catalogue.bugsElsewhere.joined(separator: "; ")
      Terminal.line("found elsewhere, in disk images: " + bugs)
    }
    if rows.count == 1 {
      scenarios.flatMap { $0.lines() }.forEach(Terminal.line)
    } else {
      scenarios.map(\.replay).forEach(Terminal.line)
    }
    coverage?.lines(choice.catalogue).forEach(Terminal.line)
  }

  private func planting(_ bug: String?, _ profile: SimulationProfile) -> SimulationChoice {
    var choice = choice
    (choice.bug, choice.profile) = (bug, profile)
    return choice
  }

  private func look(for bug: SimulationCatalogue.Bug) throws -> (Row, FailureScenario?) {
    let begin = ProcessInfo.processInfo.systemUptime
    let found = try smallest(bug.name)
    var row = Row(
      plant: bug.name, summary: bug.summary, seconds: ProcessInfo.processInfo.systemUptime - begin)
    guard let (found, scenario) = found else { return (row, nil) }
    row.invariant = found.failure.violation.invariant
    if choice.checksProtocol {
      let violation = scenario.shrinking.violation
      (row.rule, row.step) = (violation.sentence, violation.what)
      row.isOwnRule = bug.rules.contains { $0.rawValue == violation.sentence }
    }
    (row.seeds, row.acts, row.runs) = (found.seeds, scenario.shrinking.places.count, scenario.shrinking.runs)
    row.replay = scenario.replay
    return (row, scenario)
  }

  /// The first failure if its scenario is small; else the smallest of those that fail after the fewest acts.
  func smallest(_ bug: String) throws -> (Found, FailureScenario)? {
    guard var found = try find(bug) else { return nil }
    let choice = planting(bug, found.profile)
    var best = try FailureScenario(choice, found.failure, enough: enough)
    guard best.shrinking.places.count > Self.smallest else { return (found, best) }
    for failure in try soonest(choice, from: found.failure.seed + 1).prefix(Self.mostFailures) {
      let scenario = try FailureScenario(choice, failure, enough: enough)
      guard scenario.shrinking.places.count < best.shrinking.places.count else { continue }
      (found.failure, best) = (failure, scenario)
      if best.shrinking.places.count <= Self.smallest { break }
    }
    return (found, best)
  }

  /// Failures, first those after the fewest acts.
  private func soonest(_ choice: SimulationChoice, from begin: UInt64) throws -> [RunSum.Failure] {
    let explorer = Explorer(choice, jobs: options.jobs)
    var failures: [RunSum.Failure] = []
    for batch in 0..<8 {
      let first = min(begin + UInt64(batch * Self.more), seeds.upperBound)
      failures += try explorer.run((first..<seeds.upperBound).prefix(Self.more)).broken
      if failures.count >= Self.mostFailures { break }
    }
    let runner = choice.runner()
    let counted = failures.map { failure in
      (failure, acts: runner.acts(of: failure.seed).count { $0.at <= failure.violation.at })
    }
    return counted.sorted { ($0.acts, $0.0.seed) < ($1.acts, $1.0.seed) }.map(\.0)
  }

  /// The first profile that finds it, with the smallest seed that does.
  private func find(_ bug: String) throws -> Found? {
    for (place, profile) in profiles.enumerated() {
      let explorer = Explorer(planting(bug, profile), jobs: options.jobs)
      guard let failure = try explorer.run(seeds, stopsAtFailure: true).failure else { continue }
      // Not the seeds that ran: several threads are beyond it before they see the failure.
      let tried = place * options.seeds + Int(failure.seed - options.from) + 1
      return Found(failure: failure, profile: profile, seeds: tried)
    }
    return nil
  }
}

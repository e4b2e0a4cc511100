import CommandLineTools
import Exploration
import Foundation
import ScenarioFormat

/// A failing run made small: its trace, the line that replays it, and a file that real processes play.
struct FailureScenario {
  let seed: UInt64
  let shrinking: Shrinking
  /// The knobs of the seed and the events of the run, a line each.
  let trace: [String]
  private let choice: SimulationChoice
  private let runner: any SimulationRunner

  /// The end of a trace matters; this much of it is shown.
  private static let lines = 60

  /// - Parameter enough: How few acts end the search for the smallest scenario; 0 for the fewest that it finds.
  init(_ choice: SimulationChoice, _ failure: RunSum.Failure, enough: Int = 0) throws {
    self.choice = choice
    runner = choice.runner()
    seed = failure.seed
    shrinking = try Shrinking(runner, seed: failure.seed, failure.violation, enough: enough)
    let knobs = runner.knobs(of: seed).lines.dropFirst().map { "  " + $0 }
    trace = knobs + (try runner.trace(of: seed, keeping: shrinking.places).lines.suffix(Self.lines))
  }

  static func sentence(_ violation: Violation) -> String {
    "invariant \(violation.invariant) is broken (\(violation.sentence)): \(violation.what)"
  }

  private var head: String {
    "seed \(seed), shrunk to \(Counted.text(shrinking.places.count, "act")) in "
      + "\(Counted.text(shrinking.runs, "run")):"
  }

  func lines() -> [String] { ["", head] + trace + [Self.sentence(shrinking.violation), replay] }

  // MARK: Again

  var replay: String {
    Self.replay(choice, seed: seed, keep: shrinking.places, stopAt: shrinking.violation.event)
  }

  static func replay(_ choice: SimulationChoice, seed: UInt64, keep: [Int]? = nil, stopAt: Int) -> String {
    var words = ["purchase-lab", "replay", "--seed", String(seed)] + choice.words
    if let keep {
      words += ["--keep", keep.isEmpty ? "none" : keep.map(String.init).joined(separator: ",")]
    }
    if stopAt < .max { words += ["--stop-at", String(stopAt)] }
    return words.joined(separator: " ")
  }

  // MARK: A file

  /// Writes `explore-SEED.json`; returns the command that plays it.
  func file(below directory: String) throws -> String {
    let name = "explore-\(seed)" + (choice.bug.map { "-" + $0.lowercased() } ?? "")
    let path = directory + "/\(name).json"
    let acts = runner.acts(of: seed)
    let explored = ExploredScenario(
      name: name, acts: shrinking.places.map { (place: $0, planned: acts[$0]) },
      knobs: runner.knobs(of: seed))
    var scenario = explored.scenario
    scenario.summary = Self.sentence(shrinking.violation)
    scenario.description = ([scenario.description, "Replayed by: " + replay].filter { !$0.isEmpty }).joined(
      separator: " ")
    try Data(ScenarioFile.text(of: scenario).utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    return TypedCommand.line(["run", TypedCommand.path(path)])
  }
}

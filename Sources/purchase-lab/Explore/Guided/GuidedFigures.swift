import CommandLineTools
import Exploration

/// What a guided search has counted, for text, page and programs.
struct GuidedFigures: Encodable {
  /// One of the rarest behaviours.
  struct Rare: Encodable {
    var sentence: String
    var runs: Int
    /// The command that shows it; nil if the run is no seed's.
    var replay: String?
    /// Else the input, as a file has it.
    var input: String?
  }

  var behaviours: Int
  var keptInputs: Int
  /// In the order of time, no more than a chart can show.
  var points: [GuidedExplorer.Point]
  var rarest: [Rare]

  private static let mostPoints = 200
  private static let mostRare = 20

  init(_ explorer: GuidedExplorer, _ choice: SimulationChoice) throws {
    let search = explorer.search
    (behaviours, keptInputs) = (search.behaviours, search.keptInputs)
    let all = explorer.points
    let stride = max(1, all.count / Self.mostPoints)
    points = all.indices.filter { $0 % stride == 0 || $0 == all.count - 1 }.map { all[$0] }
    rarest = try search.rarest(Self.mostRare).map { shown in
      Rare(
        sentence: shown.behaviour.sentence, runs: shown.runs,
        replay: shown.plan.input == nil
          ? FailureScenario.replay(choice, seed: shown.plan.seed, stopAt: .max) : nil,
        input: try shown.plan.input?.text(about: shown.behaviour.sentence))
    }
  }

  var lines: [String] {
    ["\(behaviours) behaviours, \(Counted.text(keptInputs, "input")) kept; the rarest:"]
      + rarest.prefix(5).map { "  \($0.sentence)" + ($0.replay.map { ": " + $0 } ?? "") } + [""]
  }
}

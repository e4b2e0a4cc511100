import CommandLineTools
import ScenarioFormat

/// Runs of scenarios with clients, several at a time: `run` and `compare` are made of them.
struct RunCells {
  struct Cell: Sendable {
    var scenario: Scenario
    var client: Client
  }
  typealias Outcome = CellOutcome<Cell>

  let cells: [Cell]
  let settings: RunSettings
  var chaos = false
  var bug: AppBug?

  /// Runs every cell; see `RunSettings.outcomes`.
  func run(_ show: @escaping @Sendable (Outcome) -> Void) throws -> [Outcome] {
    let scratch = try Scratch(keep: settings.keep)
    defer { scratch.end() }
    return settings.outcomes(of: cells) { cell, log in
      let name = Self.name(of: cell)
      defer { scratch.drop(name) }
      return Outcome(cell, log, "\(cell.scenario.name), \(cell.client.rawValue): could not be run") {
        let run = ScenarioRun(
          scenario: cell.scenario, client: cell.client, seed: settings.seed, chaos: chaos,
          device: try Device(below: scratch.empty(name)), isVerbose: settings.isVerbose, log: log,
          isSpecified: settings.isSpecified, bug: bug)
        return (false, try run.run())
      }
    } show: { outcome in
      switch outcome.result {
      case .failure(let error): Terminal.complain("\(error)")
      case .success(let score): if settings.json { Terminal.json(score) }
      }
      show(outcome)
    }
  }

  /// The folder of a run's files.
  static func name(of cell: Cell) -> String { cell.scenario.name + "-" + cell.client.rawValue }

  /// Writes the report that the settings ask for, and returns the exit code of the command.
  func end(_ outcomes: [Outcome], _ report: () -> Report) -> Int32 {
    settings.end(outcomes, of: cells.count, report) ?? outcomes.compactMap(\.score).exitCode
  }
}

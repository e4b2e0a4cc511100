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
        var score = try run(cell, log, on: try scratch.device(name))
        // A busy machine makes a run late now and then. A client that is late is late each time.
        for _ in 0..<2 where score.isLate && log == nil && settings.keep == nil {
          scratch.drop(name)
          score = try run(cell, log, on: try scratch.device(name))
        }
        return (false, score)
      }
    } show: { outcome in
      switch outcome.result {
      case .failure(let error): Terminal.error("purchase-simulator: \(error)")
      case .success(let score): if settings.json { Terminal.json(score) }
      }
      show(outcome)
    }
  }

  private func run(_ cell: Cell, _ log: RunLog?, on device: Device) throws -> Score {
    try ScenarioRun(
      scenario: cell.scenario, client: cell.client, seed: settings.seed, chaos: chaos, device: device,
      isVerbose: settings.isVerbose, log: log, isSpecified: settings.isSpecified, bug: bug
    ).run()
  }

  /// The folder of a run's files.
  static func name(of cell: Cell) -> String { cell.scenario.name + "-" + cell.client.rawValue }

  /// Writes the report that the settings ask for, and returns the exit code of the command.
  func end(_ outcomes: [Outcome], _ report: () -> Report) -> Int32 {
    settings.end(outcomes, of: cells.count, report) ?? outcomes.compactMap(\.score).exitCode
  }
}

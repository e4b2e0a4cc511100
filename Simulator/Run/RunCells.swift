import Foundation

/// Runs of scenarios with clients, several at a time: what `run`, `compare` and `story` are made of.
struct RunCells {
  struct Cell: Sendable {
    var scenario: Scenario
    var client: Client
  }

  /// What came of one.
  struct Outcome: Sendable {
    var cell: Cell
    var result: Result<Score, CellError>
    var timeline: [Report.Event]
  }

  let cells: [Cell]
  let settings: RunSettings
  var chaos = false

  /// `deliver` hears of each in the order of the cells.
  func run(_ deliver: @escaping @Sendable (Outcome) -> Void) throws {
    let scratch = try Scratch(keep: settings.keep)
    defer { scratch.end() }
    let progress = Progress(count: cells.count, isShown: !settings.isQuiet)
    defer { progress.end() }
    Jobs.run(cells.count, width: settings.jobs) { index in
      run(cells[index], in: scratch)
    } inOrder: { _, outcome in
      progress.clear()
      deliver(outcome)
      progress.step()
    }
  }

  private func run(_ cell: Cell, in scratch: Scratch) -> Outcome {
    let log = settings.report == nil ? nil : RunLog()
    let name = Self.name(of: cell)
    defer { scratch.drop(name) }
    do {
      let score = try ScenarioRun(
        scenario: cell.scenario, client: cell.client, seed: settings.seed, chaos: chaos,
        device: try scratch.device(name), isVerbose: settings.isVerbose, log: log
      ).run()
      return Outcome(cell: cell, result: .success(score), timeline: log?.timeline ?? [])
    } catch {
      let told = "\(cell.scenario.name), \(cell.client.rawValue): could not be run: \(error)"
      return Outcome(
        cell: cell, result: .failure(CellError(description: told)), timeline: log?.timeline ?? [])
    }
  }

  /// The folder of a run's files.
  static func name(of cell: Cell) -> String { cell.scenario.name + "-" + cell.client.rawValue }
}

/// Why one run said nothing.
struct CellError: Error, Hashable, CustomStringConvertible {
  var description: String
}

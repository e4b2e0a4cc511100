import CommandLineTools
import PurchaseSQLite

/// The result of one cell: of a scenario with a client, or of a kill with its aftermath.
struct CellOutcome<Cell: Sendable>: Sendable {
  var cell: Cell
  var result: Result<Score, CellError>
  /// False without a kill, and if the run was over before the checkpoint was passed so often.
  var wasKilled: Bool
  var timeline: [Report.Event]

  /// Runs the cell. `failure` begins the message of an error.
  init(_ cell: Cell, _ log: RunLog?, _ failure: String, _ run: () throws -> (wasKilled: Bool, score: Score)) {
    self.cell = cell
    do {
      let (wasKilled, score) = try run()
      (self.wasKilled, result) = (wasKilled, .success(score))
    } catch {
      (wasKilled, result) = (false, .failure(CellError(description: "\(failure): \(error)")))
    }
    timeline = log?.timeline ?? []
  }

  /// Nil where the cell could not be run.
  var score: Score? {
    guard case .success(let score) = result else { return nil }
    return score
  }

  var isClean: Bool { score?.verdict == .clean }
  var isUndecided: Bool { score?.verdict == .undecided }
}

/// Why one cell has no score.
struct CellError: Error, Hashable, CustomStringConvertible {
  var description: String
}

extension RunSettings {
  /// Runs every cell, several at a time. `show` gets each outcome as soon as all cells before it are done, in the
  /// order of the cells. Returns all outcomes; those of an interrupted run are fewer than the cells.
  func outcomes<Cell>(
    of cells: [Cell], run: @escaping @Sendable (Cell, RunLog?) -> CellOutcome<Cell>,
    show: @escaping @Sendable (CellOutcome<Cell>) -> Void
  ) -> [CellOutcome<Cell>] {
    let progress = Progress(count: cells.count, isShown: !isQuiet)
    defer { progress.end() }
    let outcomes = Locked<[CellOutcome<Cell>]>([])
    Jobs.run(cells.count, width: jobs) { index in
      run(cells[index], report == nil ? nil : RunLog())
    } inOrder: { _, outcome in
      outcomes.withLock { $0.append(outcome) }
      progress.clear()
      show(outcome)
      progress.step()
    }
    return outcomes.value
  }

  /// Writes the report that the settings ask for. Returns the exit code of a command that was interrupted or has failed;
  /// nil if every cell has a score.
  func end<Cell>(_ outcomes: [CellOutcome<Cell>], of count: Int, _ report: () -> Report) -> Int32? {
    if let path = self.report, !ReportFile.write(report(), to: path) { return ExitCode.internal }
    if let code = Interruption.shared.exitCode {
      Terminal.complain("ended after \(outcomes.count) of \(count)")
      return code
    }
    return outcomes.contains { $0.score == nil } ? ExitCode.internal : nil
  }
}

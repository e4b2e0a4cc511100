import CommandLineTools
import Foundation
import ScenarioFormat

/// `crash-matrix`: app and backend are killed at every checkpoint, each time with every aftermath.
struct MatrixCommand {
  let options: MatrixOptions

  typealias Outcome = CellOutcome<MatrixCell>

  func execute() async -> Int32 {
    if options.isList {
      for line in MatrixTable.list() { Terminal.line(line) }
      return ExitCode.ok
    }
    Interruption.shared.watch()
    let started = Date()
    do {
      let scratch = try Scratch(keep: options.settings.keep)
      defer { scratch.end() }
      let starts = try options.scenarios.map { try MatrixStart($0, in: scratch, options.settings) }
      let cells = options.cell.map { [$0] } ?? starts.flatMap { Self.cells(from: $0, hits: options.hits) }
      let outcomes = run(cells, starts, in: scratch)
      return end(outcomes, of: cells.count, starts, seconds: Date().timeIntervalSince(started))
    } catch {
      if let code = Interruption.shared.exitCode { return code }
      Terminal.complain("\(error)")
      return ExitCode.internal
    }
  }

  /// The first passages of each checkpoint that the scenario passes, with each aftermath.
  static func cells(from start: MatrixStart, hits: Int) -> [MatrixCell] {
    MatrixPoint.all.flatMap { point -> [MatrixCell] in
      let passages = min(hits, start.passages[point.name] ?? 0)
      guard passages > 0 else { return [] }
      return (1...passages).flatMap { hit in
        Aftermath.allCases.map {
          MatrixCell(scenario: start.scenario.name, point: point, hit: hit, aftermath: $0)
        }
      }
    }
  }

  private func run(_ cells: [MatrixCell], _ starts: [MatrixStart], in scratch: Scratch) -> [Outcome] {
    let settings = options.settings
    let byName = Dictionary(starts.map { ($0.scenario.name, $0) }, uniquingKeysWith: { first, _ in first })
    return settings.outcomes(of: cells) { cell, log in
      let name = cell.name.replacingOccurrences(of: "/", with: "_")
      defer { scratch.drop(name) }
      return Outcome(cell, log, "could not be run") {
        guard let start = byName[cell.scenario] else { throw CellError(description: "no such scenario") }
        let device = try start.copy(to: name, in: scratch)
        return try MatrixRun(start: start, cell: cell, device: device, settings: settings, log: log).run()
      }
    } show: { outcome in
      if settings.json { Terminal.json(MatrixRow(outcome)) }
    }
  }

  private func end(
    _ outcomes: [Outcome], of count: Int, _ starts: [MatrixStart], seconds: Double
  ) -> Int32 {
    let settings = options.settings
    if !settings.json {
      for line in MatrixTable.failures(outcomes.filter { !$0.isClean }) { Terminal.line(line) }
      if !settings.isQuiet { for line in MatrixTable.rows(outcomes) { Terminal.line(line) } }
      for line in MatrixTable.summary(outcomes, starts, seconds: seconds) { Terminal.line(line) }
    }
    if let code = settings.end(outcomes, of: count, { MatrixReport.make(outcomes) }) { return code }
    // A single cell was asked for because of its kill.
    if options.cell != nil, outcomes.contains(where: { !$0.wasKilled }) { return ExitCode.notFound }
    return outcomes.compactMap(\.score).exitCode
  }
}

extension CellOutcome<MatrixCell> {
  var words: String {
    switch result {
    case .failure(let error): error.description
    case .success(let score): score.words
    }
  }

  var replay: String { "purchase-simulator crash-matrix --cell \(cell.name) -v" }
}

/// A cell as JSON.
struct MatrixRow: Encodable {
  var cell: String
  var checkpoint: String
  var hit: Int
  var aftermath: String
  var wasKilled: Bool
  var isClean: Bool
  var isUndecided: Bool
  var words: String
  var score: Score?

  init(_ outcome: MatrixCommand.Outcome) {
    cell = outcome.cell.name
    checkpoint = outcome.cell.point.name
    hit = outcome.cell.hit
    aftermath = outcome.cell.aftermath.rawValue
    wasKilled = outcome.wasKilled
    isClean = outcome.isClean
    isUndecided = outcome.isUndecided
    words = outcome.words
    score = outcome.score
  }
}

import Foundation

/// `crash-matrix`: app and backend are killed at every boundary, and whatever can happen to a phone happens then.
struct MatrixCommand {
  let options: MatrixOptions

  /// What came of one cell.
  struct Outcome: Sendable {
    var cell: MatrixCell
    var result: Result<Score, CellError>
    /// False where the run was over before the failpoint was passed so often.
    var wasKilled: Bool
    var timeline: [Report.Event]

    var isClean: Bool {
      guard case .success(let score) = result else { return false }
      return score.isAsExpected
    }

    var words: String {
      switch result {
      case .failure(let error): error.description
      case .success(let score): score.words
      }
    }

    var replay: String { "purchase-simulator crash-matrix --cell \(cell.name) -v" }
  }

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
      let grounds = try prepare(in: scratch)
      let cells = options.cell.map { [$0] } ?? grounds.flatMap { Self.cells(of: $0, hits: options.hits) }
      let outcomes = run(cells, grounds, in: scratch)
      return end(outcomes, of: cells.count, grounds, seconds: Date().timeIntervalSince(started))
    } catch {
      if let code = Interruption.shared.exitCode { return code }
      Terminal.error("purchase-simulator: \(error)")
      return ExitCode.internal
    }
  }

  private func prepare(in scratch: Scratch) throws -> [MatrixGround] {
    try options.scenarios.map { try MatrixGround($0, in: scratch, options.settings) }
  }

  /// The first passages of each point that the scenario comes to, with each fate.
  static func cells(of ground: MatrixGround, hits: Int) -> [MatrixCell] {
    MatrixPoint.all.flatMap { point -> [MatrixCell] in
      let passages = min(hits, ground.passages[point.name] ?? 0)
      guard passages > 0 else { return [] }
      return (1...passages).flatMap { hit in
        MatrixFate.allCases.map {
          MatrixCell(scenario: ground.scenario.name, point: point, hit: hit, fate: $0)
        }
      }
    }
  }

  private func run(_ cells: [MatrixCell], _ grounds: [MatrixGround], in scratch: Scratch) -> [Outcome] {
    let settings = options.settings
    let seen = Gathered<Outcome>()
    let progress = Progress(count: cells.count, isShown: !settings.isQuiet)
    let byName = Dictionary(grounds.map { ($0.scenario.name, $0) }, uniquingKeysWith: { first, _ in first })
    Jobs.run(cells.count, width: settings.jobs) { index in
      Self.run(cells[index], byName, in: scratch, settings)
    } inOrder: { _, outcome in
      seen.add(outcome)
      progress.clear()
      if settings.json { Terminal.json(MatrixRow(outcome)) }
      progress.step()
    }
    progress.end()
    return seen.all
  }

  private static func run(
    _ cell: MatrixCell, _ grounds: [String: MatrixGround], in scratch: Scratch, _ settings: RunSettings
  ) -> Outcome {
    let log = settings.report == nil ? nil : RunLog()
    let name = cell.name.replacingOccurrences(of: "/", with: "_")
    defer { scratch.drop(name) }
    do {
      guard let ground = grounds[cell.scenario] else { throw CellError(description: "no such scenario") }
      let run = MatrixRun(
        ground: ground, cell: cell, device: try ground.copy(to: name, in: scratch), settings: settings,
        log: log)
      let (wasKilled, score) = try run.run()
      return Outcome(
        cell: cell, result: .success(score), wasKilled: wasKilled, timeline: log?.timeline ?? [])
    } catch {
      return Outcome(
        cell: cell, result: .failure(CellError(description: "could not be run: \(error)")), wasKilled: false,
        timeline: log?.timeline ?? [])
    }
  }

  private func end(
    _ outcomes: [Outcome], of count: Int, _ grounds: [MatrixGround], seconds: Double
  ) -> Int32 {
    let settings = options.settings
    let failing = outcomes.filter { !$0.isClean }
    if !settings.json {
      for line in MatrixTable.failures(failing) { Terminal.line(line) }
      if !settings.isQuiet { for line in MatrixTable.rows(outcomes) { Terminal.line(line) } }
      for line in MatrixTable.summary(outcomes, grounds, seconds: seconds) { Terminal.line(line) }
    }
    if let path = settings.report {
      guard ReportFile.write(MatrixReport.make(outcomes), to: path) else { return ExitCode.internal }
    }
    if let code = Interruption.shared.exitCode {
      Terminal.error("purchase-simulator: ended after \(outcomes.count) of \(count)")
      return code
    }
    let isRun = outcomes.allSatisfy { outcome in if case .success = outcome.result { true } else { false } }
    guard isRun else { return ExitCode.internal }
    // Somebody who asks for one cell asks for its kill.
    if options.cell != nil, outcomes.contains(where: { !$0.wasKilled }) { return ExitCode.notFound }
    return failing.isEmpty ? ExitCode.ok : ExitCode.promiseBroken
  }
}

/// A cell as JSON.
struct MatrixRow: Encodable {
  var cell: String
  var failpoint: String
  var hit: Int
  var fate: String
  var wasKilled: Bool
  var isClean: Bool
  var words: String
  var score: Score?

  init(_ outcome: MatrixCommand.Outcome) {
    cell = outcome.cell.name
    failpoint = outcome.cell.point.name
    hit = outcome.cell.hit
    fate = outcome.cell.fate.rawValue
    wasKilled = outcome.wasKilled
    isClean = outcome.isClean
    words = outcome.words
    if case .success(let score) = outcome.result { self.score = score }
  }
}

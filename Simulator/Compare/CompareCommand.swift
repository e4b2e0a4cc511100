/// `compare`: every scenario with every client, as a matrix of what went wrong.
struct CompareCommand {
  let options: CompareOptions

  func execute() async -> Int32 {
    Interruption.shared.watch()
    let (settings, clients) = (options.settings, options.clients)
    let cells = options.scenarios.flatMap { scenario in
      clients.map { RunCells.Cell(scenario: scenario, client: $0) }
    }
    let seen = Gathered<RunCells.Outcome>()
    let isTable = !settings.json
    if isTable { for line in CompareTable.header(clients) { Terminal.line(line) } }
    let row = RowInProgress(width: clients.count)
    do {
      try RunCells(cells: cells, settings: settings).run { outcome in
        seen.add(outcome)
        switch outcome.result {
        case .success(let score): if settings.json { Terminal.json(score) }
        case .failure(let error): Terminal.error("purchase-simulator: \(error)")
        }
        guard let full = row.add(outcome), isTable else { return }
        if !settings.isQuiet || !CompareTable.isCleanForEngine(full) { Terminal.line(CompareTable.row(full)) }
      }
    } catch {
      Terminal.error("purchase-simulator: \(error)")
      return ExitCode.internal
    }
    return end(seen.all)
  }

  private func end(_ outcomes: [RunCells.Outcome]) -> Int32 {
    let totals = options.clients.map { ClientTotal($0, outcomes) }
    if options.settings.json {
      for total in totals { Terminal.json(total) }
    } else {
      for line in CompareTable.totals(totals) { Terminal.line(line) }
    }
    if let path = options.settings.report {
      let report = RunReport.make(
        title: "purchase-simulator compare", outcomes: outcomes, clients: options.clients,
        summary: totals.map { .init(name: $0.client, value: $0.words) })
      guard ReportFile.write(report, to: path) else { return ExitCode.internal }
    }
    if let code = Interruption.shared.exitCode {
      let count = options.scenarios.count * options.clients.count
      Terminal.error("purchase-simulator: ended after \(outcomes.count) of \(count)")
      return code
    }
    guard totals.allSatisfy({ $0.failed == 0 }) else { return ExitCode.internal }
    let isKept = totals.allSatisfy { $0.client != Client.engine.rawValue || $0.clean == $0.runs }
    return isKept ? ExitCode.ok : ExitCode.promiseBroken
  }
}

/// What one client came to over all scenarios.
struct ClientTotal: Encodable {
  var client: String
  var runs = 0
  /// Runs in which everything was as promised.
  var clean = 0
  var paid = 0
  var granted = 0
  var lost = 0
  var doubled = 0
  var wrongAccount = 0
  var unfinished = 0
  var pending = 0
  var stuck = 0
  /// Runs that said nothing.
  var failed = 0

  init(_ client: Client, _ outcomes: [RunCells.Outcome]) {
    self.client = client.rawValue
    for outcome in outcomes where outcome.cell.client == client {
      runs += 1
      guard case .success(let score) = outcome.result else {
        failed += 1
        continue
      }
      if client == .engine ? score.isAsExpected : score.isClean { clean += 1 }
      paid += score.paid
      granted += score.granted
      lost += score.lost
      doubled += score.doubled
      wrongAccount += score.wrongAccount
      unfinished += score.unfinished
      pending += score.pending
      stuck += score.stuck
    }
  }

  var words: String {
    let counts = [(lost, "lost"), (doubled, "doubled"), (wrongAccount, "misplaced"), (stuck, "stuck")]
    let wrong = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return (["\(clean) of \(runs) clean"] + wrong).joined(separator: ", ")
  }
}

import CommandLineTools
import PurchaseSQLite
import ScenarioFormat

/// `compare`: every scenario with every client, as a matrix of what went wrong.
struct CompareCommand {
  let options: CompareOptions

  func execute() async -> Int32 { ScenarioSource.play(options.scenarios, execute) }

  private func execute(_ scenarios: [Scenario]) throws -> Int32 {
    Interruption.shared.watch()
    let (settings, clients) = (options.settings, options.clients)
    if !settings.json { for line in CompareTable.header(clients) { Terminal.line(line) } }
    let cells = RunCells(
      cells: scenarios.flatMap { scenario in clients.map { RunCells.Cell(scenario: scenario, client: $0) } },
      settings: settings)
    let row = Locked<[RunCells.Outcome]>([])
    let outcomes = try cells.run { outcome in
      row.withLock { $0.append(outcome) }
      let all = row.value
      guard !settings.json, all.count.isMultiple(of: clients.count) else { return }
      let full = all.suffix(clients.count)
      if !settings.isQuiet || !CompareTable.isCleanForEngine(full) { Terminal.line(CompareTable.row(full)) }
    }
    let totals = clients.map { ClientTotal($0, outcomes) }
    if settings.json {
      for total in totals { Terminal.json(total) }
    } else {
      for line in CompareTable.totals(totals) { Terminal.line(line) }
    }
    return cells.end(outcomes) {
      RunReport.make(
        title: "purchase-simulator compare", outcomes: outcomes, clients: clients,
        summary: totals.map { .init(name: $0.client, value: $0.words) })
    }
  }
}

/// The sums of one client over all scenarios.
struct ClientTotal: Encodable {
  var client: String
  var runs = 0
  /// Runs in which every promise was kept.
  var clean = 0
  /// Runs in which a purchase was delivered later than a minute after it could be.
  var late = 0
  /// Runs that ran out of time.
  var undecided = 0
  var paid = 0
  var granted = 0
  var lost = 0
  var doubled = 0
  var wrongAccount = 0
  var unfinished = 0
  var pending = 0
  var stuck = 0
  /// Cells that could not be run.
  var failed = 0

  init(_ client: Client, _ outcomes: [RunCells.Outcome]) {
    self.client = client.rawValue
    let own = outcomes.filter { $0.cell.client == client }
    let scores = own.compactMap(\.score)
    func sum(_ count: (Score) -> Int) -> Int { scores.map(count).reduce(0, +) }
    runs = own.count
    failed = own.count - scores.count
    clean = scores.count { $0.verdict == .clean }
    late = scores.count(where: \.isLate)
    undecided = scores.count { $0.verdict == .undecided }
    (paid, granted, lost, doubled) = (sum(\.paid), sum(\.granted), sum(\.lost), sum(\.doubled))
    (wrongAccount, unfinished) = (sum(\.wrongAccount), sum(\.unfinished))
    (pending, stuck) = (sum(\.pending), sum(\.stuck))
  }

  var words: String {
    let counts = [
      (lost, "lost"), (doubled, "doubled"), (wrongAccount, "misplaced"), (stuck, "stuck"),
      (undecided, "undecided"),
    ]
    let wrong = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return (["\(clean) of \(runs) clean"] + wrong).joined(separator: ", ")
  }
}

import CommandLineTools
import Foundation
import ScenarioFormat

/// `run`: one row per scenario, and a summary.
struct RunCommand {
  let options: RunOptions

  func execute() async -> Int32 { ScenarioSource.play(options.scenarios, execute) }

  private func execute(_ scenarios: [Scenario]) throws -> Int32 {
    Interruption.shared.watch()
    let settings = options.settings
    if !settings.json, !settings.isQuiet {
      Terminal.line(Table.heading(options.client, of: scenarios))
      Terminal.line(Table.header)
    }
    let cells = RunCells(
      cells: scenarios.map { RunCells.Cell(scenario: $0, client: options.client) }, settings: settings,
      chaos: options.chaos, bug: options.bug)
    let outcomes = try cells.run { outcome in
      guard let score = outcome.score, !settings.json else { return }
      if !settings.isQuiet || !score.isAsExpected { Terminal.line(Table.row(score)) }
      // In the table of all scenarios there is no space for them.
      if !settings.isQuiet, scenarios.count == 1 { Terminal.line("  requests: " + score.requests.words) }
    }
    let summary = Table.summary(outcomes.compactMap(\.score))
    if !settings.json {
      Terminal.line(summary)
      if let judged = Table.judgements(outcomes.compactMap(\.score)) { Terminal.line(judged) }
      printKeptQueues(cells.cells)
    }
    return cells.end(outcomes) {
      RunReport.make(
        title: "purchase-simulator run", outcomes: outcomes, clients: [options.client],
        summary: [.init(name: options.client.rawValue, value: summary)])
    }
  }

  private func printKeptQueues(_ cells: [RunCells.Cell]) {
    guard let keep = options.settings.keep else { return }
    Terminal.line("kept below \(keep); a queue is shown by: purchase-simulator inspect FILE")
    for cell in cells {
      let path = Device.queue(in: keep + "/" + RunCells.name(of: cell) + "/container")
      if FileManager.default.fileExists(atPath: path) { Terminal.line("  \(path)") }
    }
  }
}

import CommandLineTools
import Foundation
import ScenarioFormat

/// The report of runs: scenarios by clients, and a time line of each run.
enum RunReport {
  static func make(
    title: String, outcomes: [RunCells.Outcome], clients: [Client], summary: [Report.Figure]
  ) -> Report {
    var rows: [String] = []
    var subjects: [Report.Subject] = []
    var cells: [Report.Cell] = []
    var timelines: [Report.Timeline] = []
    for outcome in outcomes {
      let scenario = outcome.cell.scenario
      if !rows.contains(scenario.name) {
        rows.append(scenario.name)
        subjects.append(
          Report.Subject(
            name: scenario.name, summary: scenario.summary, text: scenario.description,
            attacks: scenario.attacks, proves: scenario.proves))
      }
      cells.append(cell(outcome, timeline: timelines.count))
      timelines.append(
        Report.Timeline(
          title: "\(scenario.name), \(outcome.cell.client.rawValue)",
          pace: "retry delays at 1/\(scenario.timeScale) of their time", events: outcome.timeline))
    }
    return Report(
      title: title, command: ReportFile.commandLine, madeAt: Date().ISO8601Format(), summary: summary,
      subjects: subjects, rows: rows, columns: clients.map(\.rawValue), cells: cells, timelines: timelines)
  }

  private static func cell(_ outcome: RunCells.Outcome, timeline: Int) -> Report.Cell {
    let (scenario, client) = (outcome.cell.scenario, outcome.cell.client)
    var cell = Report.Cell(
      row: scenario.name, column: client.rawValue, words: "failed", state: .failed,
      replay:
        "purchase-simulator run \(TypedCommand.quoted(scenario.file ?? scenario.name)) --client \(client.rawValue)",
      timeline: timeline,
      detail: client.summary)
    switch outcome.result {
    case .failure(let error): cell.detail = error.description
    case .success(let score):
      cell.words = score.words
      cell.state = Report.CellState(score, elseFailed: .failed)
      cell.figures = [
        .init(name: "paid", value: "\(score.paid)"), .init(name: "granted", value: "\(score.granted)"),
        .init(name: "lost", value: "\(score.lost)"), .init(name: "doubled", value: "\(score.doubled)"),
        .init(name: "to a wrong account", value: "\(score.wrongAccount)"),
        .init(name: "stuck", value: "\(score.stuck)"),
        .init(name: "seconds from able to delivered", value: Table.delay(of: score)),
        .init(name: "seconds of the run", value: Table.seconds(score.seconds)),
      ]
    }
    return cell
  }
}

extension Report.CellState {
  /// - Parameter elseFailed: The state of a run that failed in none of the ways that have a name.
  init(_ score: Score, elseFailed: Self) {
    self =
      if score.verdict == .undecided { .undecided } else if score.lost > 0 { .lost } else if score.doubled > 0
      { .doubled } else if score.wrongAccount > 0 { .wrongAccount } else if score.stuck > 0 { .stuck } else {
        score.verdict == .failed ? elseFailed : .clean
      }
  }
}

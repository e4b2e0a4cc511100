import Foundation

/// The report of the matrix: failpoints by fates; a time line of every cell that failed, and of the first clean one.
enum MatrixReport {
  static func make(_ outcomes: [MatrixCommand.Outcome]) -> Report {
    var cells: [Report.Cell] = []
    var timelines: [Report.Timeline] = []
    for point in MatrixPoint.all {
      for fate in MatrixFate.allCases {
        let here = outcomes.filter { $0.cell.point == point && $0.cell.fate == fate }
        guard let shown = here.first(where: { !$0.isClean }) ?? here.first else { continue }
        cells.append(cell(here, shown, timeline: timelines.count))
        timelines.append(Report.Timeline(title: shown.cell.name, events: shown.timeline))
      }
    }
    let clean = outcomes.count(where: \.isClean)
    return Report(
      title: "purchase-simulator crash-matrix", command: ReportFile.commandLine,
      madeAt: Date().ISO8601Format(),
      note: "A cell stands for several runs: the first passages of the failpoint, in each scenario.",
      summary: [.init(name: "cells", value: "\(clean) of \(outcomes.count) clean")],
      stories: MatrixPoint.all.map {
        Report.Story(
          name: $0.name, summary: $0.moment, story: "The \($0.process.rawValue) is killed there.",
          attacks: "", proves: [])
      }, rows: MatrixPoint.all.map(\.name), columns: MatrixFate.allCases.map(\.rawValue), cells: cells,
      timelines: timelines)
  }

  private static func cell(
    _ here: [MatrixCommand.Outcome], _ shown: MatrixCommand.Outcome, timeline: Int
  ) -> Report.Cell {
    let failing = here.filter { !$0.isClean }
    let words = failing.isEmpty ? "\(here.count) ok" : "\(failing.count) of \(here.count) failed"
    return Report.Cell(
      row: shown.cell.point.name, column: shown.cell.fate.rawValue, words: words, state: state(of: failing),
      figures: here.map { .init(name: "\($0.cell.scenario):\($0.cell.hit)", value: $0.words) },
      replay: shown.replay, timeline: timeline, detail: "shown: \(shown.cell.name)")
  }

  private static func state(of failing: [MatrixCommand.Outcome]) -> Report.CellState {
    guard let first = failing.first else { return .clean }
    guard case .success(let score) = first.result else { return .failed }
    if score.lost > 0 { return .lost }
    if score.doubled > 0 { return .doubled }
    return score.wrongAccount > 0 ? .wrongAccount : .stuck
  }
}

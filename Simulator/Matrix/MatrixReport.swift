import CommandLineTools
import Foundation

/// The report of the matrix: checkpoints by aftermaths, with a time line of the first failing cell, else of the first.
enum MatrixReport {
  static func make(_ outcomes: [MatrixCommand.Outcome]) -> Report {
    var cells: [Report.Cell] = []
    var timelines: [Report.Timeline] = []
    for point in MatrixPoint.all {
      for aftermath in Aftermath.allCases {
        let here = outcomes.filter { $0.cell.point == point && $0.cell.aftermath == aftermath }
        guard let shown = here.first(where: { !$0.isClean }) ?? here.first else { continue }
        cells.append(cell(here, shown, timeline: timelines.count))
        timelines.append(Report.Timeline(title: shown.cell.name, events: shown.timeline))
      }
    }
    let clean = outcomes.count(where: \.isClean)
    return Report(
      title: "purchase-simulator crash-matrix", command: ReportFile.commandLine,
      madeAt: Date().ISO8601Format(),
      note: "A cell stands for several runs: the first passages of the checkpoint, in each scenario.",
      summary: [.init(name: "cells", value: "\(clean) of \(outcomes.count) clean")],
      subjects: MatrixPoint.all.map {
        Report.Subject(
          name: $0.name, summary: $0.moment, text: "The \($0.process.rawValue) is killed there.",
          attacks: "", proves: [])
      }, rows: MatrixPoint.all.map(\.name), columns: Aftermath.allCases.map(\.rawValue), cells: cells,
      timelines: timelines)
  }

  private static func cell(
    _ here: [MatrixCommand.Outcome], _ shown: MatrixCommand.Outcome, timeline: Int
  ) -> Report.Cell {
    let failing = here.filter { !$0.isClean }
    let words = failing.isEmpty ? "\(here.count) ok" : "\(failing.count) of \(here.count) not clean"
    return Report.Cell(
      row: shown.cell.point.name, column: shown.cell.aftermath.rawValue, words: words,
      state: state(of: failing),
      figures: here.map { .init(name: "\($0.cell.scenario):\($0.cell.hit)", value: $0.words) },
      replay: shown.replay, timeline: timeline, detail: "shown: \(shown.cell.name)")
  }

  private static func state(of failing: [MatrixCommand.Outcome]) -> Report.CellState {
    guard let first = failing.first(where: { !$0.isUndecided }) ?? failing.first else { return .clean }
    return first.score.map { Report.CellState($0, elseFailed: .stuck) } ?? .failed
  }
}

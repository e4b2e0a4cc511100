import Foundation

/// The report of runs: scenarios by clients, and a time line of each.
enum RunReport {
  static func make(
    title: String, outcomes: [RunCells.Outcome], clients: [Client], summary: [Report.Figure]
  ) -> Report {
    var rows: [String] = []
    var stories: [Report.Story] = []
    var cells: [Report.Cell] = []
    var timelines: [Report.Timeline] = []
    for outcome in outcomes {
      let scenario = outcome.cell.scenario
      if !rows.contains(scenario.name) {
        rows.append(scenario.name)
        stories.append(
          Report.Story(
            name: scenario.name, summary: scenario.summary, story: scenario.story,
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
      stories: stories, rows: rows, columns: clients.map(\.rawValue), cells: cells, timelines: timelines)
  }

  private static func cell(_ outcome: RunCells.Outcome, timeline: Int) -> Report.Cell {
    let (scenario, client) = (outcome.cell.scenario, outcome.cell.client)
    var cell = Report.Cell(
      row: scenario.name, column: client.rawValue, words: "failed", state: .failed,
      replay: "purchase-simulator run \(scenario.name) --client \(client.rawValue)", timeline: timeline,
      detail: client.summary)
    switch outcome.result {
    case .failure(let error): cell.detail = error.description
    case .success(let score):
      cell.words = score.words
      cell.state = state(of: score)
      cell.figures = [
        .init(name: "paid", value: "\(score.paid)"), .init(name: "granted", value: "\(score.granted)"),
        .init(name: "lost", value: "\(score.lost)"), .init(name: "doubled", value: "\(score.doubled)"),
        .init(name: "to a wrong account", value: "\(score.wrongAccount)"),
        .init(name: "stuck", value: "\(score.stuck)"),
        .init(name: "seconds", value: Table.seconds(score.seconds)),
      ]
    }
    return cell
  }

  private static func state(of score: Score) -> Report.CellState {
    if score.lost > 0 { return .lost }
    if score.doubled > 0 { return .doubled }
    if score.wrongAccount > 0 { return .wrongAccount }
    if score.stuck > 0 { return .stuck }
    return score.client == Client.engine.rawValue && !score.isAsExpected ? .failed : .clean
  }
}

/// The file of a report.
enum ReportFile {
  /// What was typed, as a shell would take it again.
  static var commandLine: String { TypedCommand.line(Array(CommandLine.arguments.dropFirst())) }

  /// False where it could not be written, which is said.
  static func write(_ report: Report, to path: String) -> Bool {
    write(to: path) { try ReportPage.html(report) }
  }

  /// Why no report is written there: a page takes the place of another, and of nothing else.
  static func refusal(of path: String) -> String? {
    let target = URL(fileURLWithPath: path).resolvingSymlinksInPath()
    var isFolder: ObjCBool = false
    guard unsafe FileManager.default.fileExists(atPath: target.path, isDirectory: &isFolder) else {
      return isLink(path) ? "it is a link to nothing" : nil
    }
    if path.isEmpty || isFolder.boolValue { return "it is a folder" }
    do {
      let values = try target.resourceValues(forKeys: [.isRegularFileKey])
      return values.isRegularFile == true ? nil : "it is no file"
    } catch {
      return error.localizedDescription
    }
  }

  /// Whether a link is there, wherever it leads.
  private static func isLink(_ path: String) -> Bool {
    do {
      // Without a slash at its end, which would be what the link leads to.
      let place = URL(fileURLWithPath: path).path
      let attributes = try FileManager.default.attributesOfItem(atPath: place)
      return attributes[.type] as? FileAttributeType == .typeSymbolicLink
    } catch {
      return false
    }
  }

  static func write(to path: String, _ html: () throws -> Data) -> Bool {
    if let reason = refusal(of: path) {
      Terminal.error("purchase-simulator: \(path) could not be written: \(reason)")
      return false
    }
    do {
      // Where a link leads, not in its place.
      try html().write(to: URL(fileURLWithPath: path).resolvingSymlinksInPath(), options: .atomic)
      return true
    } catch {
      Terminal.error("purchase-simulator: \(path) could not be written: \(error.localizedDescription)")
      return false
    }
  }
}

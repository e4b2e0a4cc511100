import Foundation

/// `run`: one row per scenario, and a summary.
struct RunCommand {
  let options: RunOptions

  func execute() async -> Int32 {
    Interruption.shared.watch()
    let settings = options.settings
    let seen = Gathered<RunCells.Outcome>()
    if !settings.json, !settings.isQuiet {
      Terminal.line(Table.heading(options.client, of: options.scenarios))
      Terminal.line(Table.header)
    }
    let cells = options.scenarios.map { RunCells.Cell(scenario: $0, client: options.client) }
    do {
      try RunCells(cells: cells, settings: settings, chaos: options.chaos).run { outcome in
        seen.add(outcome)
        Self.show(outcome, settings)
      }
    } catch {
      Terminal.error("purchase-simulator: \(error)")
      return ExitCode.internal
    }
    return end(seen.all)
  }

  private static func show(_ outcome: RunCells.Outcome, _ settings: RunSettings) {
    switch outcome.result {
    case .failure(let error): Terminal.error("purchase-simulator: \(error)")
    case .success(let score):
      if settings.json {
        Terminal.json(score)
      } else if !settings.isQuiet || !score.isAsExpected {
        Terminal.line(Table.row(score))
      }
    }
  }

  private func end(_ outcomes: [RunCells.Outcome]) -> Int32 {
    let scores = outcomes.compactMap { outcome -> Score? in
      guard case .success(let score) = outcome.result else { return nil }
      return score
    }
    if !options.settings.json {
      Terminal.line(Table.summary(scores))
      tellWhereFilesAre()
    }
    if let path = options.settings.report {
      let report = RunReport.make(
        title: "purchase-simulator run", outcomes: outcomes, clients: [options.client],
        summary: [.init(name: options.client.rawValue, value: Table.summary(scores))])
      guard ReportFile.write(report, to: path) else { return ExitCode.internal }
    }
    if let code = Interruption.shared.exitCode {
      Terminal.error("purchase-simulator: ended after \(outcomes.count) of \(options.scenarios.count)")
      return code
    }
    guard scores.count == outcomes.count else { return ExitCode.internal }
    // Only the engine promises anything.
    return options.client != .engine || scores.allSatisfy(\.isAsExpected)
      ? ExitCode.ok : ExitCode.promiseBroken
  }

  private func tellWhereFilesAre() {
    guard let keep = options.settings.keep else { return }
    Terminal.line("kept below \(keep); a queue is shown by: purchase-simulator inspect FILE")
    for scenario in options.scenarios {
      let name = RunCells.name(of: .init(scenario: scenario, client: options.client))
      let path = Device.queue(in: keep + "/" + name + "/container")
      if FileManager.default.fileExists(atPath: path) { Terminal.line("  \(path)") }
    }
  }
}

/// What several threads add to, one after the other.
final class Gathered<Element: Sendable>: Sendable {
  private let lock = NSLock()
  private nonisolated(unsafe) var elements: [Element] = []

  func add(_ element: Element) { lock.withLock { unsafe elements.append(element) } }
  var all: [Element] { lock.withLock { unsafe elements } }
}

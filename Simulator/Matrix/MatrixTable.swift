import CommandLineTools
import ScenarioFormat

/// The matrix as text, within 80 columns.
enum MatrixTable {
  private static let nameWidth = 28
  private static let cellWidth = 13

  /// The checkpoints, and what happens there.
  static func list() -> [String] {
    MatrixPoint.Process.allCases.flatMap { process -> [String] in
      let points = MatrixPoint.all.filter { $0.process == process }
      return ["In the \(process.rawValue)'s process (\(points.count)):"]
        + points.map { "  " + Table.pad($0.name, nameWidth) + $0.moment }
    } + ["Scenarios:"] + Scenario.matrix.map { "  " + Table.pad($0.name, nameWidth) + $0.summary }
      + ["After the kill: " + Aftermath.allCases.map(\.rawValue).joined(separator: ", ")]
  }

  static func failures(_ failing: [MatrixCommand.Outcome]) -> [String] {
    failing.flatMap { outcome in
      [
        Terminal.coloured("\(outcome.cell.name): \(outcome.words)", outcome.isUndecided ? .yellow : .red),
        "  \(outcome.replay)",
      ]
    }
  }

  /// Checkpoints by aftermaths: how many cells were clean, of how many.
  static func rows(_ outcomes: [MatrixCommand.Outcome]) -> [String] {
    let aftermaths = Aftermath.allCases
    let header =
      Table.pad("killed at", nameWidth) + aftermaths.map { Table.left($0.rawValue, cellWidth) }.joined()
    let points = MatrixPoint.all.filter { point in outcomes.contains { $0.cell.point == point } }
    return [header]
      + points.map { point in
        let cells = aftermaths.map { aftermath -> String in
          let here = outcomes.filter { $0.cell.point == point && $0.cell.aftermath == aftermath }
          let clean = here.count(where: \.isClean)
          let text = Table.left("\(clean)/\(here.count)", cellWidth)
          return clean == here.count ? text : Terminal.coloured(text, .red)
        }
        return Table.pad(point.name, nameWidth) + cells.joined()
      }
  }

  static func summary(
    _ outcomes: [MatrixCommand.Outcome], _ starts: [MatrixStart], seconds: Double
  ) -> [String] {
    let killed = outcomes.count(where: \.wasKilled)
    let clean = outcomes.count(where: \.isClean)
    let scenarios = Set(outcomes.map(\.cell.scenario)).count
    let points = Set(outcomes.map(\.cell.point)).count
    let undecided = outcomes.count(where: \.isUndecided)
    var lines = [
      "\(clean) of \(outcomes.count) cells clean: \(points) checkpoints, \(scenarios) scenarios, "
        + "\(Aftermath.allCases.count) aftermaths, in \(Table.seconds(seconds)) s",
      "\(killed) met their kill; in \(outcomes.count - killed) the run was over before",
    ]
    if undecided > 0 { lines.append("\(undecided) undecided: the run ran out of time") }
    if let judged = Table.judgements(outcomes.compactMap(\.score)) { lines.append(judged) }
    let passed = Set(starts.flatMap { $0.passages.keys })
    let never = MatrixPoint.all.map(\.name).filter { !passed.contains($0) }
    if !never.isEmpty { lines.append("never passed here: " + never.joined(separator: ", ")) }
    return lines
  }
}

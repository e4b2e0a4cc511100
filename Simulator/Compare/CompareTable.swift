import CommandLineTools
import Foundation
import ScenarioFormat

/// The matrix as text, within 80 columns.
enum CompareTable {
  private static let nameWidth = 31
  private static let cellWidth = 8

  /// Two lines, since the clients' names are long.
  static func header(_ clients: [Client]) -> [String] {
    let halves = clients.map { client -> (String, String) in
      let words = client.rawValue.split(separator: "-").map(String.init)
      return (words.dropLast().joined(separator: "-"), words.last ?? "")
    }
    return [line("", halves.map(\.0)), line("scenario", halves.map(\.1))]
  }

  private static func line(_ name: String, _ cells: [String]) -> String {
    Table.pad(name, nameWidth) + cells.map { Table.left($0, cellWidth) }.joined()
  }

  static func row(_ outcomes: some Collection<RunCells.Outcome>) -> String {
    Table.pad(outcomes.first?.cell.scenario.name ?? "", nameWidth) + outcomes.map(cell).joined()
  }

  private static func cell(_ outcome: RunCells.Outcome) -> String {
    guard let score = outcome.score else { return Terminal.coloured(Table.left("failed", cellWidth), .red) }
    let colour: Terminal.Colour =
      switch score.verdict {
      case .clean: .green
      case .undecided: .yellow
      case .failed: score.lost + score.doubled + score.wrongAccount > 0 ? .red : .yellow
      }
    let seconds = score.delay.map { " \(Int($0.rounded()))" } ?? ""
    return Terminal.coloured(Table.left(code(of: score) + seconds, cellWidth), colour)
  }

  /// `ok`, or counts: `1L 2S`.
  static func code(of score: Score) -> String {
    if score.verdict == .undecided { return "?" }
    let counts = [(score.lost, "L"), (score.doubled, "D"), (score.wrongAccount, "W"), (score.stuck, "S")]
    let wrong = counts.filter { $0.0 > 0 }.map { "\($0.0)\($0.1)" }
    return wrong.isEmpty ? (score.verdict == .clean ? "ok" : "odd") : wrong.joined(separator: " ")
  }

  static func isCleanForEngine(_ outcomes: some Collection<RunCells.Outcome>) -> Bool {
    outcomes.allSatisfy { $0.cell.client != .engine || $0.score?.verdict == .clean }
  }

  static func totals(_ totals: [ClientTotal]) -> [String] {
    var columns: [(String, (ClientTotal) -> Int)] = [
      ("lost", \.lost), ("doubled", \.doubled), ("wrong account", \.wrongAccount), ("stuck", \.stuck),
      ("runs that were clean", \.clean), ("later than a minute", \.late),
    ]
    let areSomeUndecided = totals.contains { $0.undecided > 0 }
    if areSomeUndecided { columns.append(("undecided", \.undecided)) }
    let rows = columns.map { name, value in line(name, totals.map { "\(value($0))" }) }
    return [String(repeating: "-", count: nameWidth + totals.count * cellWidth)] + rows
      + [
        "L lost, D doubled, W to a wrong account, S stuck: neither granted nor lost yet,",
        "odd: other than expected; the number: seconds from able to delivered",
      ]
      + (areSomeUndecided ? ["? undecided: the run ran out of time"] : [])
  }
}

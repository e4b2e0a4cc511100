import Foundation

/// The matrix as text, within 80 columns.
enum CompareTable {
  private static let nameWidth = 31
  private static let cellWidth = 8

  /// Two lines, since the clients' names are long.
  static func header(_ clients: [Client]) -> [String] {
    let halves = clients.map { client -> (String, String) in
      let words = client.rawValue.split(separator: "-").map(String.init)
      let first = words.dropLast().joined(separator: "-")
      return (first, words.last ?? "")
    }
    return [
      Table.pad("", nameWidth) + halves.map { Table.left($0.0, cellWidth) }.joined(),
      Table.pad("scenario", nameWidth) + halves.map { Table.left($0.1, cellWidth) }.joined(),
    ]
  }

  static func row(_ outcomes: [RunCells.Outcome]) -> String {
    Table.pad(outcomes.first?.cell.scenario.name ?? "", nameWidth) + outcomes.map(cell).joined()
  }

  private static func cell(_ outcome: RunCells.Outcome) -> String {
    guard case .success(let score) = outcome.result else {
      return Terminal.coloured(Table.left("failed", cellWidth), .red)
    }
    let text = Table.left(code(of: score), cellWidth)
    if isFine(outcome) { return Terminal.coloured(text, .green) }
    return Terminal.coloured(text, score.lost + score.doubled + score.wrongAccount > 0 ? .red : .yellow)
  }

  /// `ok`, or counts: `1L 2S`.
  static func code(of score: Score) -> String {
    let counts = [(score.lost, "L"), (score.doubled, "D"), (score.wrongAccount, "W"), (score.stuck, "S")]
    let wrong = counts.filter { $0.0 > 0 }.map { "\($0.0)\($0.1)" }
    if !wrong.isEmpty { return wrong.joined(separator: " ") }
    return score.client == Client.engine.rawValue && !score.unexpected.isEmpty ? "odd" : "ok"
  }

  private static func isFine(_ outcome: RunCells.Outcome) -> Bool {
    guard case .success(let score) = outcome.result else { return false }
    return outcome.cell.client == .engine ? score.isAsExpected : score.isClean
  }

  static func isCleanForEngine(_ outcomes: [RunCells.Outcome]) -> Bool {
    outcomes.allSatisfy { $0.cell.client != .engine || isFine($0) }
  }

  static func totals(_ totals: [ClientTotal]) -> [String] {
    let columns: [(String, (ClientTotal) -> Int)] = [
      ("lost", \.lost), ("doubled", \.doubled), ("wrong account", \.wrongAccount), ("stuck", \.stuck),
      ("runs that were clean", \.clean),
    ]
    let rows = columns.map { name, value in
      Table.pad(name, nameWidth) + totals.map { Table.left("\(value($0))", cellWidth) }.joined()
    }
    return [String(repeating: "-", count: nameWidth + totals.count * cellWidth)] + rows
      + ["L lost, D doubled, W to a wrong account, S stuck: neither granted nor lost yet"]
  }
}

/// Gathers the cells of one row.
final class RowInProgress: Sendable {
  private let width: Int
  private let lock = NSLock()
  private nonisolated(unsafe) var cells: [RunCells.Outcome] = []

  init(width: Int) { self.width = width }

  /// The whole row when this was its last cell.
  func add(_ outcome: RunCells.Outcome) -> [RunCells.Outcome]? {
    lock.withLock {
      unsafe cells.append(outcome)
      guard unsafe cells.count == width else { return nil }
      defer { unsafe cells = [] }
      return unsafe cells
    }
  }
}

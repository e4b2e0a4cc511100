import Foundation

/// Scores as text, within 80 columns.
enum Table {
  private static let columns = ["paid", "granted", "lost", "doubled", "wrong", "stuck", "seconds"]
  private static let nameWidth = 32

  /// Whose rows these are, and how fast time goes for them.
  static func heading(_ client: Client, of scenarios: [Scenario]) -> String {
    let scales = Set(scenarios.map(\.timeScale))
    let pace = scales.count == 1 ? "1/\(scales.first ?? 1)" : "1/1000 and less"
    return "\(client.rawValue): \(client.summary)\nretry delays run at \(pace) of their time"
  }

  static var header: String { pad("scenario", nameWidth) + columns.map { left($0, width($0)) }.joined() }

  static func row(_ score: Score) -> String {
    let numbers = [
      score.paid, score.granted, score.lost, score.doubled, score.wrongAccount, score.stuck,
    ]
    let cells = zip(columns, numbers.map(String.init) + [seconds(score.seconds)])
    let text = pad(score.scenario, nameWidth) + cells.map { left($1, width($0)) }.joined()
    let line = score.isAsExpected ? text : Terminal.coloured(text, .red)
    return score.unexpected.isEmpty ? line : line + "\n  " + score.unexpected.joined(separator: ", ")
  }

  static func summary(_ scores: [Score]) -> String {
    let clean = scores.count(where: \.isAsExpected)
    let lost = scores.map(\.lost).reduce(0, +)
    let doubled = scores.map(\.doubled).reduce(0, +)
    let time = scores.map(\.seconds).reduce(0, +)
    return "\(clean) of \(scores.count) clean, \(lost) lost, \(doubled) doubled, \(seconds(time)) s of runs"
  }

  /// Aligned to the left.
  static func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  /// Aligned to the right.
  static func left(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(1, width - text.count)) + text
  }

  private static func width(_ column: String) -> Int { max(column.count, 4) + 1 }

  static func seconds(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    let fraction = hundredths % 100
    return "\(hundredths / 100)." + (fraction < 10 ? "0" : "") + "\(fraction)"
  }
}

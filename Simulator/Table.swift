import Foundation

/// Scores as text.
enum Table {
  private static let columns = ["paid", "granted", "lost", "doubled", "unfinished", "pending", "seconds"]

  static var header: String {
    pad("scenario", 29) + pad("client", 17) + columns.map { left($0, width($0)) }.joined()
  }

  static func row(_ score: Score) -> String {
    let numbers = [score.paid, score.granted, score.lost, score.doubled, score.unfinished, score.pending]
    let cells = zip(columns, numbers.map(String.init) + [seconds(score.seconds)])
    return pad(score.scenario, 29) + pad(score.client, 17) + cells.map { left($1, width($0)) }.joined()
  }

  static func summary(_ scores: [Score]) -> String {
    let clean = scores.count(where: \.isClean)
    let lost = scores.map(\.lost).reduce(0, +)
    let doubled = scores.map(\.doubled).reduce(0, +)
    let time = scores.map(\.seconds).reduce(0, +)
    return "\(clean) of \(scores.count) clean, \(lost) lost, \(doubled) doubled, in \(seconds(time)) s"
  }

  static func json(_ score: Score) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return String(decoding: try encoder.encode(score), as: UTF8.self)
  }

  /// Aligned to the left.
  static func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  /// Aligned to the right.
  private static func left(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(1, width - text.count)) + text
  }

  private static func width(_ column: String) -> Int { max(column.count, 4) + 2 - (column.count > 7 ? 1 : 0) }

  private static func seconds(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    let fraction = hundredths % 100
    return "\(hundredths / 100)." + (fraction < 10 ? "0" : "") + "\(fraction)"
  }
}

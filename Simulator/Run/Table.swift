import CommandLineTools
import Foundation
import ScenarioFormat

/// Scores as rows of at most 80 columns.
extension Table {
  private static let columns = ["paid", "granted", "lost", "doubled", "wrong", "stuck", "seconds"]
  private static let nameWidth = 32

  /// The client of these rows, and how fast its retry delays pass.
  static func heading(_ client: Client, of scenarios: [Scenario]) -> String {
    let scales = Set(scenarios.map(\.timeScale))
    let pace = scales.count == 1 ? "1/\(scales.first ?? 1)" : "1/1000 and less"
    return """
      \(client.rawValue): \(client.summary)
      retry delays run at \(pace) of their time
      seconds: from able to delivered, with each delay at its length in production
      """

  }

  static var header: String { pad("scenario", nameWidth) + columns.map { left($0, width($0)) }.joined() }

  static func row(_ score: Score) -> String {
    let numbers = [
      score.paid, score.granted, score.lost, score.doubled, score.wrongAccount, score.stuck,
    ]
    let cells = zip(columns, numbers.map(String.init) + [delay(of: score)])
    let text = pad(score.scenario, nameWidth) + cells.map { left($1, width($0)) }.joined()
    let colour = colour(of: score)
    let line = colour == .green ? text : Terminal.coloured(text, colour)
    let isUndecided = score.verdict == .undecided
    let remarks =
      (isUndecided ? ["undecided: the run ran out of time"] : []) + score.remarks
    return remarks.isEmpty ? line : line + "\n  " + remarks.joined(separator: ", ")
  }

  /// `0.05`, or `-` where nothing was measured.
  static func delay(of score: Score) -> String { score.delay.map(seconds) ?? "-" }

  static func colour(of score: Score) -> Terminal.Colour {
    switch score.verdict {
    case .undecided: .yellow
    case .clean where score.client != Client.engine.rawValue && !score.isAsExpected: .red
    case .clean: .green
    case .failed: .red
    }
  }

  static func summary(_ scores: [Score]) -> String {
    let clean = scores.count(where: \.isAsExpected)
    let undecided = scores.count { $0.verdict == .undecided }
    let lost = scores.map(\.lost).reduce(0, +)
    let doubled = scores.map(\.doubled).reduce(0, +)
    let time = scores.map(\.seconds).reduce(0, +)
    return "\(clean) of \(scores.count) clean, " + (undecided > 0 ? "\(undecided) undecided, " : "")
      + "\(lost) lost, \(doubled) doubled, \(seconds(time)) s of runs"
  }

  /// How many runs the specification accepts; nil if it was not asked.
  static func judgements(_ scores: [Score]) -> String? {
    let judgements = scores.compactMap(\.judgement)
    guard !judgements.isEmpty else { return nil }
    let accepted = judgements.count { $0.refusal == nil }
    let steps = judgements.map(\.steps).reduce(0, +)
    return "specification: \(accepted) of \(judgements.count) accepted, \(steps) steps"
  }

  private static func width(_ column: String) -> Int { max(column.count, 4) + 1 }
}

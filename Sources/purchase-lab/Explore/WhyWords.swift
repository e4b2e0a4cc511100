import CommandLineTools
import Exploration
import Foundation

/// An explanation as text.
struct WhyWords {
  let explanation: FailureExplanation

  init(_ explanation: FailureExplanation) { self.explanation = explanation }

  static func percent(_ share: Double) -> String {
    let percent = Int((share * 100).rounded())
    if percent == 0, share > 0 { return "under 1 %" }
    if percent == 100, share < 1 { return "over 99 %" }
    return "\(percent) %"
  }

  static func name(_ code: FailingRun.Code) -> String {
    switch code {
    case .same: "with the code that failed"
    case .mended: "with the planted bug mended after the event"
    }
  }

  private static func rise(_ jump: FutureShares.Jump) -> String {
    "event \(jump.event) raises the probability of the failure from \(percent(jump.before)) to "
      + percent(jump.after)
  }

  private var named: RunFilm.Frame? {
    explanation.film.frames.first { $0.event == explanation.jump.event }
  }

  /// The named event, in a sentence.
  var verdict: String { Self.rise(explanation.jump) + (named.map { ": \($0.sentence)" } ?? "") }

  func lines(replay: String) -> [String] {
    let violation = explanation.violation
    return [
      FailureScenario.sentence(violation),
      "It is event \(violation.event) at \(Trace.moment(violation.at)), shrunk to "
        + "\(Counted.text(explanation.places.count, "act")) in \(Counted.text(explanation.runs, "run")).", "",
      verdict + " (\(Self.name(explanation.curves[0].code)))",
    ]
      + explanation.curves.dropFirst().map {
        "\(Self.rise($0.shares.jump)) (\(Self.name($0.code)))"
      } + way + probabilities + acts + parties + ["", replay]
  }

  /// From the event that made the failure likely to the failure: what went wrong lies between them.
  private var way: [String] {
    let first = explanation.curves.map(\.shares.jump.event).min() ?? 0
    let frames = explanation.film.frames.filter {
      $0.event >= first && $0.event <= explanation.violation.event
    }
    var lines = ["", "from there to the failure"]
    for frame in frames.prefix(Self.mostOfWay) {
      lines.append("  event \(frame.event), \(Trace.moment(frame.at)): \(frame.sentence)")
      lines += frame.lines.map { "    " + Self.withoutMoment($0) }
    }
    if frames.count > Self.mostOfWay {
      lines.append("  … and \(frames.count - Self.mostOfWay) more: --report shows all")
    }
    return lines
  }

  private static let mostOfWay = 20

  /// The probability wherever it changes.
  private var probabilities: [String] {
    var rows = [["event"] + explanation.curves.map(\.code.rawValue)]
    let curves = explanation.curves.map { curve in
      Dictionary(uniqueKeysWithValues: curve.shares.points.map { ($0.event, Self.percent($0.share)) })
    }
    for event in 0...explanation.violation.event where curves.contains(where: { $0[event] != nil }) {
      let row = curves.map { $0[event] ?? "" }
      if row == rows.last?.dropFirst().map({ $0 }), event < explanation.violation.event { continue }
      rows.append([String(event)] + row)
    }
    return ["", "the probability of the failure after an event"] + TextTable.lines(rows).map { "  " + $0 }
  }

  private var acts: [String] {
    let needed = explanation.acts.filter(\.matters)
    let others = explanation.acts.filter { !$0.matters }
    var lines = ["", needed.isEmpty ? "the failure needs no act" : "the acts that it needs"]
    lines += needed.map { "  \($0.place)  \(Trace.moment($0.at))  \($0.sentence)" }
    guard !others.isEmpty else { return lines }
    lines.append("the acts whose removal changes nothing")
    return lines
      + others.map { Terminal.coloured("  \($0.place)  \(Trace.moment($0.at))  \($0.sentence)", .faint) }
  }

  private var parties: [String] {
    guard let named else { return [] }
    var lines = ["", "the parties after event \(named.event)"]
    for party in named.parties where !party.lines.isEmpty {
      lines += ["  \(party.name)"] + party.lines.map { "    \($0)" }
    }
    return lines
  }

  /// A line of a trace without its moment: its frame has it.
  static func withoutMoment(_ line: String) -> String {
    // "day 0 00:00:00.000  " has 20 characters or more; two spaces end it.
    guard let end = line.range(of: "  ") else { return line }
    return String(line[end.upperBound...])
  }
}

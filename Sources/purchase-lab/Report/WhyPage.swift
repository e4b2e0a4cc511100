import CommandLineTools
import Exploration
import Foundation

/// The content of `replay --why --report`, and its JSON document. The page's script reads exactly these names.
struct WhyPage: Encodable {
  var title: String
  /// The command that made the page.
  var command: String
  /// ISO 8601.
  var madeAt: String
  /// One sentence: the named event.
  var verdict: String
  var invariant: InvariantNumber
  /// The broken promise, and what broke it.
  var sentence: String
  var what: String
  /// The event of the failure.
  var event: Int
  /// The event that raised the probability most.
  var named: Int
  /// The first names the event.
  var curves: [Curve]
  /// Up to the failure.
  var acts: [Act]
  /// The first is the beginning, before any event.
  var frames: [Frame]
  var parties: [Party]
  var replay: String

  struct Curve: Encodable {
    var code: FailingRun.Code
    /// Which code runs in its futures, in words.
    var name: String
    var named: Int
    var before: Double
    var after: Double
    var futures: Int
    var points: [Point]
  }

  struct Point: Encodable {
    var event: Int
    var share: Double
    var futures: Int
  }

  struct Act: Encodable {
    var place: Int
    var at: String
    var sentence: String
    var matters: Bool
    /// The event in which it happens; nil where it was left out.
    var event: Int?
  }

  struct Frame: Encodable {
    var at: String
    var sentence: String
    var lines: [String]
  }

  /// A party, and its state from each event on that changed it.
  struct Party: Encodable {
    var name: String
    var states: [State]
  }

  struct State: Encodable {
    var event: Int
    var lines: [String]
  }
}

extension WhyPage {
  init(_ explanation: FailureExplanation, replay: String, command: String, madeAt: Date) {
    let words = WhyWords(explanation)
    let frames = explanation.film.frames
    title = "purchase-lab replay --why"
    self.command = command
    self.madeAt = madeAt.ISO8601Format()
    verdict = words.verdict
    invariant = explanation.violation.invariant
    (sentence, what) = (explanation.violation.sentence, explanation.violation.what)
    (event, named) = (explanation.violation.event, explanation.jump.event)
    self.replay = replay
    curves = explanation.curves.map { curve in
      let jump = curve.shares.jump
      return Curve(
        code: curve.code, name: WhyWords.name(curve.code), named: jump.event, before: jump.before,
        after: jump.after, futures: curve.shares.futures,
        points: curve.shares.points.map { Point(event: $0.event, share: $0.share, futures: $0.futures) })
    }
    acts = explanation.acts.map { act in
      Act(
        place: act.place, at: Trace.moment(act.at), sentence: act.sentence, matters: act.matters,
        event: frames.first { $0.act == act.place }?.event)
    }
    self.frames = frames.map {
      Frame(at: Trace.moment($0.at), sentence: $0.sentence, lines: $0.lines.map(WhyWords.withoutMoment))
    }
    parties = (frames.first?.parties ?? []).indices.map { number in
      var states: [State] = []
      for frame in frames where frame.parties[number].lines != states.last?.lines {
        states.append(State(event: frame.event, lines: frame.parties[number].lines))
      }
      return Party(name: frames[0].parties[number].name, states: states)
    }
  }
}

extension WhyPage: ReportContent {
  static var template: Data { ReportFiles.why }
}

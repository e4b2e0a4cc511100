import FaultInjection
import Foundation
import PurchaseQueue

/// A failing world as a small story, as a line that tells it again, and as a file that real processes play.
struct FailureStory {
  let seed: UInt64
  let shrinking: Shrinking
  /// What its seed drew, and what happened, a line each.
  let told: [String]
  private let exploration: Exploration
  private let storage: ExploredStorage

  /// The end of a story is what matters; this much of it.
  private static let lines = 60

  init(
    _ exploration: Exploration, _ storage: ExploredStorage, _ failure: ExplorationSum.Failure
  ) throws(QueueError) {
    self.exploration = exploration
    self.storage = storage
    seed = failure.seed
    shrinking = try Shrinking(exploration, seed: failure.seed, failure.violation)
    let knobs = Knobs(seed: seed, profile: exploration.profile).lines.dropFirst().map { "  " + $0 }
    told = knobs + (try exploration.story(of: seed, keeping: shrinking.places).lines.suffix(Self.lines))
  }

  static func sentence(_ violation: Violation) -> String {
    "invariant \(violation.invariant.rawValue) is broken (\(violation.invariant.sentence)): \(violation.what)"
  }

  private var head: String {
    "seed \(seed), shrunk to \(Counted.text(shrinking.places.count, "act")) in "
      + "\(Counted.text(shrinking.runs, "run")):"
  }

  func lines() -> [String] {
    ["", head] + told
      + [Self.sentence(shrinking.violation), replay]
  }

  /// The acts that are left.
  var acts: [PlannedAct] {
    let all = exploration.acts(of: seed)
    return shrinking.places.map { all[$0] }
  }

  // MARK: Again

  var replay: String {
    Self.replay(
      seed: seed, exploration.profile, storage, exploration.plant, keep: shrinking.places,
      stopAt: shrinking.violation.event)
  }

  static func replay(
    seed: UInt64, _ profile: ExplorationProfile, _ storage: ExploredStorage, _ plant: Plant?,
    keep: [Int]? = nil, stopAt: Int
  ) -> String {
    var words = ["purchase-simulator replay --seed \(seed) --profile \(profile.rawValue)"]
    words.append("--storage \(storage.rawValue)")
    if let plant { words.append("--plant \(plant.rawValue)") }
    if let keep {
      words.append("--keep " + (keep.isEmpty ? "none" : keep.map(String.init).joined(separator: ",")))
    }
    return (words + ["--stop-at \(stopAt)"]).joined(separator: " ")
  }

  // MARK: A file

  /// Writes `explore-SEED.json` for `story`; returns what to say of it.
  func file(below directory: String) throws -> String {
    let name = "explore-\(seed)" + (exploration.plant.map { "-" + $0.rawValue.lowercased() } ?? "")
    let path = directory + "/\(name).json"
    let story = ExploredStory(
      name: name, acts: shrinking.places.map { (place: $0, planned: exploration.acts(of: seed)[$0]) },
      knobs: Knobs(seed: seed, profile: exploration.profile))
    var scenario = story.scenario
    scenario.summary = Self.sentence(shrinking.violation)
    scenario.story = ([scenario.story, "Told again by: " + replay].filter { !$0.isEmpty }).joined(
      separator: " ")
    try Data(StoryFile.text(of: scenario).utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    return TypedCommand.line(["story", TypedCommand.path(path)])
  }
}

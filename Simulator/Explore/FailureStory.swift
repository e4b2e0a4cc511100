import FaultInjection
import PurchaseQueue

/// A failing world as a small story, and as a line that tells it again.
struct FailureStory {
  let shrinking: Shrinking
  private let exploration: Exploration
  private let storage: ExploredStorage
  private let seed: UInt64

  init(
    _ exploration: Exploration, _ storage: ExploredStorage, _ failure: ExplorationSum.Failure
  ) throws(QueueError) {
    self.exploration = exploration
    self.storage = storage
    seed = failure.seed
    shrinking = try Shrinking(exploration, seed: failure.seed, failure.violation)
  }

  static func sentence(_ violation: Violation) -> String {
    "invariant \(violation.invariant.rawValue) is broken (\(violation.invariant.sentence)): \(violation.what)"
  }

  func lines() throws(QueueError) -> [String] {
    let (violation, told) = try exploration.story(of: seed, keeping: shrinking.places)
    var lines = ["", "seed \(seed), shrunk to \(shrinking.places.count) acts in \(shrinking.runs) runs:"]
    lines += Knobs(seed: seed, profile: exploration.profile).lines.dropFirst().map { "  " + $0 }
    lines += told.suffix(60)
    lines.append(Self.sentence(violation ?? shrinking.violation))
    lines.append(replay)
    return lines
  }

  var replay: String {
    let places = shrinking.places.isEmpty ? "none" : shrinking.places.map(String.init).joined(separator: ",")
    return "purchase-simulator replay --seed \(seed) --profile \(exploration.profile.rawValue) --storage "
      + storage.rawValue + (exploration.plant.map { " --plant \($0.rawValue)" } ?? "")
      + " --keep \(places) --stop-at \(shrinking.violation.event)"
  }
}

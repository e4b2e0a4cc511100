import FaultInjection
import Foundation
import PurchaseQueue

/// `explore --plant`: each planted bug has to be found, by an invariant, and made a small story.
struct PlantSearch {
  let options: ExploreOptions

  /// A story is small with so many acts.
  private static let smallest = 12
  /// Where bugs of a kind are likely; the swarm finds the rest.
  private static let profiles: [ExplorationProfile] = [
    .swarm, .crash, .accounts, .store, .subscriptions, .network,
  ]

  private struct Found {
    var failure: ExplorationSum.Failure
    var profile: ExplorationProfile
    var seeds: Int
  }

  func execute(_ name: String) throws -> Int32 {
    let plants = Plant.allCases.filter { name == "all" || $0.rawValue == name }
    var rows = [["planted bug", "invariant", "seeds", "acts", "runs", "seconds"]]
    var stories: [String] = []
    var isGood = true
    for plant in plants {
      let begin = Date()
      guard let (found, story) = try smallest(plant) else {
        rows.append([plant.rawValue, "not found", "", "", "", ""])
        isGood = false
        continue
      }
      let acts = story.shrinking.places.count
      if acts > Self.smallest { isGood = false }
      rows.append([
        plant.rawValue, String(found.failure.violation.invariant.rawValue), String(found.seeds), String(acts),
        String(story.shrinking.runs), String(Double(Int(Date().timeIntervalSince(begin) * 10)) / 10),
      ])
      if plants.count == 1 { stories += try story.lines() } else { stories.append(story.replay) }
    }
    TextTable.lines(rows).forEach(Terminal.line)
    Terminal.line("found elsewhere, in disk images: " + Plant.elsewhere.joined(separator: "; "))
    stories.forEach(Terminal.line)
    Terminal.line(isGood ? "every planted bug was found" : "not every planted bug was found, or made small")
    return isGood ? ExitCode.ok : ExitCode.promiseBroken
  }

  /// The first finding whose story is small; else the smallest of a few.
  private func smallest(_ plant: Plant) throws(QueueError) -> (Found, FailureStory)? {
    guard let first = try find(plant, from: options.from) else { return nil }
    var best: (Found, FailureStory)?
    var next: Found? = first
    for _ in 0..<8 {
      guard var found = next else { break }
      found.seeds = first.seeds
      let explorer = Explorer(found.profile, options.storage, plant, jobs: options.jobs)
      let story = try FailureStory(explorer.exploration, options.storage, found.failure)
      if story.shrinking.places.count < best?.1.shrinking.places.count ?? .max { best = (found, story) }
      if story.shrinking.places.count <= Self.smallest { break }
      next = try find(plant, from: found.failure.seed + 1)
    }
    return best
  }

  private func find(_ plant: Plant, from begin: UInt64) throws(QueueError) -> Found? {
    var tried = 0
    let batch = UInt64(max(64, options.seeds / 10))
    for profile in Self.profiles {
      let explorer = Explorer(profile, options.storage, plant, jobs: options.jobs)
      var next = begin
      while next < begin + UInt64(options.seeds) {
        let sum = try explorer.run(next..<(next + batch), stopsAtFailure: true)
        tried += sum.seeds
        if let failure = sum.failure { return Found(failure: failure, profile: profile, seeds: tried) }
        next += batch
      }
    }
    return nil
  }
}

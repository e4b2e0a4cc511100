import FaultInjection
import Foundation
import PurchaseQueue

/// `explore --plant`: each planted bug has to be found, by an invariant, and made a small story.
///
/// Looked at are the seeds that are asked for, in one profile after the other, or in the one that is asked for. What is
/// found is the first of them, whatever the number of threads.
struct PlantSearch {
  let options: ExploreOptions

  private var seeds: Range<UInt64> { options.from..<options.from + UInt64(options.seeds) }

  private var profiles: [ExplorationProfile] {
    options.hasOwnProfile ? [options.profile] : Self.profiles
  }

  /// A story is small with so many acts.
  private static let smallest = 12
  /// So many lives at a time, where all failures count and not only the first.
  private static let more = 64
  /// Where bugs of a kind are likely; the swarm finds the rest.
  private static let profiles: [ExplorationProfile] = [
    .swarm, .crash, .accounts, .store, .subscriptions, .network,
  ]

  private struct Found {
    var failure: ExplorationSum.Failure
    var profile: ExplorationProfile
    var seeds: Int
  }

  /// What came of looking for one.
  struct Row: Encodable {
    var plant: String
    var summary: String
    /// Which invariant it broke; nil if it was not found.
    var invariant: Int?
    /// How many lives there are up to the first that breaks it.
    var seeds: Int?
    var acts: Int?
    var runs: Int?
    var seconds: Double
    var replay: String?

    /// A story is small with so many acts.
    var isGood: Bool { invariant != nil && (acts ?? 0) <= PlantSearch.smallest }
  }

  func execute(_ name: String) throws -> Int32 {
    let plants = Plant.allCases.filter { name == "all" || $0.rawValue == name }
    let progress = Progress(count: plants.count, isShown: true)
    var rows: [Row] = []
    var stories: [FailureStory] = []
    for plant in plants where !Interruption.shared.isAsked {
      let (row, story) = try look(for: plant)
      if Interruption.shared.isAsked { break }
      rows.append(row)
      if let story { stories.append(story) }
      progress.step()
    }
    let coverage = name == "all" && rows.count == plants.count ? try cover(rows) : nil
    progress.end()
    let isWhole = rows.count == plants.count
    let isGood = isWhole && rows.allSatisfy(\.isGood) && coverage?.isWhole ?? true
    if options.json {
      Terminal.json(Document(plants: rows, notBroken: coverage?.missing.map(\.rawValue) ?? [], good: isGood))
    } else {
      tell(rows, stories, coverage)
      Terminal.line(Self.verdict(isWhole ? nil : rows.count, of: plants.count, isGood))
    }
    if let directory = options.stories {
      for story in stories {
        let line = try story.file(below: directory)
        if options.json { Terminal.error(line) } else { Terminal.line(line) }
      }
    }
    if let code = Interruption.shared.exitCode { return code }
    return isGood ? ExitCode.ok : ExitCode.promiseBroken
  }

  /// - Parameter ended: After how many somebody ended it; nil if nobody did.
  static func verdict(_ ended: Int?, of all: Int, _ isGood: Bool) -> String {
    switch ended {
    case nil: isGood ? "every planted bug was found" : "not every planted bug was found, or made small"
    case 0: "ended before " + (all == 1 ? "the planted bug" : "any of \(all) planted bugs") + " was found"
    case let count?: "ended after \(count) of \(all) planted bugs"
    }
  }

  /// The first life that fails may break another invariant than the one that a bug is made for: then more of them.
  private func cover(_ rows: [Row]) throws(QueueError) -> PlantCoverage {
    var coverage = PlantCoverage(rows)
    for invariant in coverage.missing {
      for profile in profiles where coverage.missing.contains(invariant) {
        let explorer = Explorer(profile, options.storage, invariant.plant, jobs: options.jobs)
        var left = seeds
        while !left.isEmpty, coverage.missing.contains(invariant), !Interruption.shared.isAsked {
          let batch = left.prefix(Self.more)
          coverage.add(try explorer.run(batch))
          left = batch.upperBound..<left.upperBound
        }
      }
    }
    return coverage
  }

  private struct Document: Encodable {
    var plants: [Row]
    /// Invariants that no planted bug breaks.
    var notBroken: [Int]
    var good: Bool
  }

  private func tell(_ rows: [Row], _ stories: [FailureStory], _ coverage: PlantCoverage?) {
    var table = [["planted bug", "invariant", "seeds", "acts", "runs", "seconds"]]
    for row in rows {
      func text(_ number: Int?) -> String { number.map(String.init) ?? "" }
      table.append([
        row.plant, row.invariant.map(String.init) ?? "not found", text(row.seeds), text(row.acts),
        text(row.runs), Table.seconds(row.seconds),
      ])
    }
    TextTable.lines(table).forEach(Terminal.line)
    Terminal.line("found elsewhere, in disk images: " + Plant.elsewhere.joined(separator: "; "))
    if rows.count == 1 {
      stories.flatMap { $0.lines() }.forEach(Terminal.line)
    } else {
      stories.map(\.replay).forEach(Terminal.line)
    }
    coverage?.lines.forEach(Terminal.line)
  }

  private func look(for plant: Plant) throws -> (Row, FailureStory?) {
    let begin = ProcessInfo.processInfo.systemUptime
    let found = try smallest(plant)
    var row = Row(
      plant: plant.rawValue, summary: plant.summary, seconds: ProcessInfo.processInfo.systemUptime - begin)
    guard let (found, story) = found else { return (row, nil) }
    row.invariant = found.failure.violation.invariant.rawValue
    (row.seeds, row.acts, row.runs) = (found.seeds, story.shrinking.places.count, story.shrinking.runs)
    row.replay = story.replay
    return (row, story)
  }

  /// The first finding if its story is small; else the smallest of those that fail soonest: little has happened then.
  private func smallest(_ plant: Plant) throws(QueueError) -> (Found, FailureStory)? {
    guard var found = try find(plant) else { return nil }
    let explorer = Explorer(found.profile, options.storage, plant, jobs: options.jobs)
    var best = try FailureStory(explorer.exploration, options.storage, found.failure)
    guard best.shrinking.places.count > Self.smallest else { return (found, best) }
    for failure in try soonest(explorer, from: found.failure.seed + 1).prefix(8) {
      let story = try FailureStory(explorer.exploration, options.storage, failure)
      guard story.shrinking.places.count < best.shrinking.places.count else { continue }
      (found.failure, best) = (failure, story)
      if best.shrinking.places.count <= Self.smallest { break }
    }
    return (found, best)
  }

  /// Failures, with those first before which the fewest acts were done.
  private func soonest(
    _ explorer: Explorer, from begin: UInt64
  ) throws(QueueError) -> [ExplorationSum.Failure] {
    var failures: [ExplorationSum.Failure] = []
    for batch in 0..<8 {
      let first = min(begin + UInt64(batch * Self.more), seeds.upperBound)
      failures += try explorer.run((first..<seeds.upperBound).prefix(Self.more)).broken
    }
    let exploration = explorer.exploration
    let counted = failures.map { failure in
      (failure, acts: exploration.acts(of: failure.seed).count { $0.at <= failure.violation.at })
    }
    return counted.sorted { ($0.acts, $0.0.seed) < ($1.acts, $1.0.seed) }.map(\.0)
  }

  /// The first profile that finds it, with the smallest seed that does.
  private func find(_ plant: Plant) throws(QueueError) -> Found? {
    for (place, profile) in profiles.enumerated() {
      let explorer = Explorer(profile, options.storage, plant, jobs: options.jobs)
      guard let failure = try explorer.run(seeds, stopsAtFailure: true).failure else { continue }
      // Not those that were lived: several threads are beyond it before they hear of it.
      let tried = place * options.seeds + Int(failure.seed - options.from) + 1
      return Found(failure: failure, profile: profile, seeds: tried)
    }
    return nil
  }
}

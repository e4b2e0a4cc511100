import FaultInjection
import Foundation
import PurchaseQueue

/// `explore`: worlds from seeds, each held to the invariants.
struct ExploreCommand {
  let options: ExploreOptions

  func execute() -> Int32 {
    do {
      try ExploredDisks.prepare(options.storage)
      if options.printsHashes { return try printHashes() }
      if options.checkDeterminism { return try checkDeterminism() }
      if let plant = options.plant { return try PlantSearch(options: options).execute(plant) }
      return try explore()
    } catch {
      Terminal.error("purchase-simulator: exploring failed: \(error)")
      return ExitCode.internal
    }
  }

  private func explore() throws -> Int32 {
    let begin = Date()
    let explorer = Explorer(options.profile, options.storage, jobs: options.jobs)
    var sum = ExplorationSum()
    if let minutes = options.minutes {
      sum = try exploreFor(minutes, explorer, begin)
    } else {
      sum = try explorer.run(options.from..<(options.from + UInt64(options.seeds)))
    }
    let seconds = Date().timeIntervalSince(begin)
    let report = ExploreReport(options: options, sum: sum, seconds: seconds)
    if options.json { Terminal.line(try report.json()) } else { report.lines.forEach(Terminal.line) }
    if let failure = sum.failure {
      try FailureStory(explorer.exploration, options.storage, failure).lines().forEach(tell)
    }
    return report.isGood ? ExitCode.ok : ExitCode.promiseBroken
  }

  private func tell(_ line: String) { if options.json { Terminal.error(line) } else { Terminal.line(line) } }

  /// In batches, with a line of progress for whoever watches.
  private func exploreFor(_ minutes: Int, _ explorer: Explorer, _ begin: Date) throws -> ExplorationSum {
    var sum = ExplorationSum()
    var next = options.from
    while Date().timeIntervalSince(begin) < Double(minutes) * 60 {
      sum.add(try explorer.run(next..<(next + 2_000)))
      next += 2_000
      let seconds = Date().timeIntervalSince(begin)
      if Terminal.errorIsTerminal {
        let rate = { (count: Int) in String(Int(Double(count) / seconds)) }
        let hit = sum.marks.count { $0 > 0 }
        Terminal.error(
          "\(sum.seeds) seeds, \(rate(sum.seeds))/s, \(rate(sum.figures.purchases)) purchases/s, "
            + "\(hit) of \(sum.marks.count) marks, \(sum.failures) failures")
      }
      if sum.failures > 100 { break }
    }
    return sum
  }

  // MARK: Determinism

  private func hashes() throws(QueueError) -> [String] {
    let exploration = Explorer(options.profile, options.storage, jobs: 1).exploration
    var lines: [String] = []
    for seed in options.from..<(options.from + UInt64(options.seeds)) {
      let life = try exploration.live(seed)
      lines.append("\(seed) \(life.events) \(life.hash)")
    }
    return lines
  }

  private func printHashes() throws -> Int32 {
    for line in try hashes() { Terminal.line(line) }
    return ExitCode.ok
  }

  /// Every seed twice, here and in another process, whose hashing is seeded differently.
  private func checkDeterminism() throws -> Int32 {
    let own = try hashes()
    let other = try ChildOutput(of: [
      "explore", "--print-hashes", "--seeds", String(options.seeds), "--from", String(options.from),
      "--profile", options.profile.rawValue, "--storage", options.storage.rawValue,
    ]).lines
    guard own.count == other.count else {
      Terminal.error("purchase-simulator: the other process ended early")
      return ExitCode.internal
    }
    for (left, right) in zip(own, other) where left != right {
      Terminal.line("seed \(left.prefix { $0 != " " }) is not the same run twice: \(left) and \(right)")
      try firstDivergence(UInt64(left.prefix { $0 != " " }) ?? 0)
      return ExitCode.promiseBroken
    }
    Terminal.line("\(own.count) seeds are the same run in two processes")
    return ExitCode.ok
  }

  /// Bisects to the first event after which the two runs differ, and names it.
  private func firstDivergence(_ seed: UInt64) throws {
    let exploration = Explorer(options.profile, options.storage, jobs: 1).exploration
    let (_, lines) = try exploration.story(of: seed)
    let other = try ChildOutput(of: [
      "replay", "--seed", String(seed), "--profile", options.profile.rawValue, "--storage",
      options.storage.rawValue,
    ]).lines.filter { $0.hasPrefix("day ") }
    for (left, right) in zip(lines, other) where left != right {
      Terminal.line("first difference:\n  \(left)\n  \(right)")
      return
    }
  }
}

/// `replay`: one world, told.
struct ReplayCommand {
  let options: ReplayOptions

  func execute() -> Int32 {
    let exploration = Exploration(
      profile: options.profile, plant: options.plant, disks: ExploredDisks.maker(options.storage))
    do throws(QueueError) {
      try ExploredDisks.prepare(options.storage)
      for line in Knobs(seed: options.seed, profile: options.profile).lines { Terminal.line(line) }
      let (violation, lines) = try exploration.story(
        of: options.seed, keeping: options.keep, stopAt: options.stopAt)
      for line in lines { Terminal.line(line) }
      guard let violation else {
        Terminal.line("nothing was broken")
        return ExitCode.ok
      }
      Terminal.line(FailureStory.sentence(violation))
      return ExitCode.promiseBroken
    } catch {
      Terminal.error("purchase-simulator: the replay failed: \(error)")
      return ExitCode.internal
    }
  }
}

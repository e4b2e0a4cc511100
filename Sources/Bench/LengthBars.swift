/// Bar 7: reading takes as long in a long queue as in a short one.
enum LengthBars {
  private static let shortLength = 10
  private static let readsPerRound = 200

  static func section(_ plan: BenchPlan, _ workbench: Workbench) throws -> BenchSection {
    try workbench.scratch { directory in
      let short = directory + "/short.sqlite"
      let long = directory + "/long.sqlite"
      try fill(short, to: shortLength)
      try fill(long, to: BenchPlan.longLength)
      let open = try alternate(plan.rounds) { isLong in
        var queue: QueueSubject?
        let samples = try Samples.measure(1) { _ in queue = try QueueSubject(path: isLong ? long : short) }
        // Not measured: the last connection to close makes a checkpoint and removes the log.
        queue?.close()
        return try samples.percentile(50)
      }
      let (shortQueue, longQueue) = (try QueueSubject(path: short), try QueueSubject(path: long))
      defer {
        shortQueue.close()
        longQueue.close()
      }
      let peek = try alternate(plan.rounds) { isLong in
        let queue = isLong ? longQueue : shortQueue
        return try Samples.measure(readsPerRound) { _ in try queue.peek() }.percentile(50)
      }
      let count = try alternate(plan.rounds) { isLong in
        let queue = isLong ? longQueue : shortQueue
        return try Samples.measure(readsPerRound) { _ in _ = try queue.count() }.percentile(50)
      }
      return BenchSection(
        title: "10,000 entries against 10, 8 KB on disk",
        bars: [
          try .times(7, "peek with its payload", peek.ratios(), .atMost(1.1)),
          try .times(7, "count", count.ratios(), .atMost(1.1)),
          try .times(7, "open", open.ratios(), .atMost(2)),
        ],
        notes: [try peek.text("peek"), try count.text("count"), try open.text("open")])
    }
  }

  /// Nanoseconds, in the order of the rounds.
  private struct Pairs {
    var short: [Double] = []
    var long: [Double] = []

    func ratios() throws -> [Double] { try Statistics.ratios(long, to: short) }

    func text(_ what: String) throws -> String {
      let (short, long) = (try Statistics.median(short), try Statistics.median(long))
      return "\(what): \(BenchText.fixed(short / 1_000, 1)) us at 10 entries, "
        + "\(BenchText.fixed(long / 1_000, 1)) us at 10,000"
    }
  }

  private static func alternate(_ rounds: Int, _ measure: (_ isLong: Bool) throws -> Double) throws -> Pairs {
    var pairs = Pairs()
    // The first run of each is cold.
    _ = try measure(false)
    _ = try measure(true)
    for _ in 0..<rounds {
      pairs.short.append(try measure(false))
      pairs.long.append(try measure(true))
    }
    return pairs
  }

  private static func fill(_ path: String, to length: Int) throws {
    let queue = try QueueSubject(path: path)
    defer { queue.close() }
    var payloads = Payloads(seed: 7)
    try queue.fill(to: length, from: &payloads)
  }
}

/// Bar 11: opening a queue of the usual length, and looking at its first entry.
enum OpenBars {
  static func section(_ plan: BenchPlan, _ workbench: Workbench) throws -> BenchSection {
    try workbench.scratch { directory in
      let (queue, loop) = (directory + "/queue.sqlite", directory + "/loop.sqlite")
      try fill(queue, loop)
      // The first run of each is cold.
      _ = (try opening(queue), try opening(loop: loop))
      var (times, ratios): ([Double], [Double]) = ([], [])
      for _ in 0..<plan.rounds {
        let (own, bare) = (try opening(queue), try opening(loop: loop))
        times.append(own)
        ratios.append(own / bare)
      }
      return BenchSection(
        title: "opening with \(BenchPlan.length) entries, and a first peek, on disk",
        bars: [try .times(11, "open and peek / SQLite C loop", ratios, .atMost(1.5))],
        notes: ["open and peek: \(BenchText.fixed(try Statistics.median(times) / 1_000, 0)) us"])
    }
  }

  private static func fill(_ queue: String, _ loop: String) throws {
    var payloads = Payloads(seed: 11)
    let own = try QueueSubject(path: queue)
    try own.fill(to: BenchPlan.length, from: &payloads)
    own.close()
    let bare = try SQLiteLoopSubject(path: loop)
    for _ in 0..<BenchPlan.length { try bare.enqueue(payloads.next()) }
    bare.close()
  }

  /// Nanoseconds. Closing is not measured.
  private static func opening(_ path: String) throws -> Double {
    var queue: QueueSubject?
    let samples = try Samples.measure(1) { _ in
      queue = try QueueSubject(path: path)
      try queue?.peek()
    }
    queue?.close()
    return try samples.percentile(50)
  }

  private static func opening(loop path: String) throws -> Double {
    var loop: SQLiteLoopSubject?
    let samples = try Samples.measure(1) { _ in
      loop = try SQLiteLoopSubject(path: path)
      try loop?.peek()
    }
    loop?.close()
    return try samples.percentile(50)
  }
}

/// The second half of bar 5: acknowledgements that share a commit.
enum BatchBars {
  static func section(_ plan: BenchPlan, _ workbench: Workbench) throws -> BenchSection {
    let sizes = [1, 10, 50]
    var rates: [Int: [Double]] = [:]
    // A multiple of every size, so that each run acknowledges the same number of entries.
    let items = plan.operations / 50 * 50
    for repetition in 0..<plan.repetitions {
      for size in sizes {
        let rate = try itemsPerSecond(size, items: items, seed: UInt64(repetition), workbench)
        rates[size, default: []].append(rate)
      }
    }
    let single = rates[1] ?? []
    let bars = try [(10, 5.0), (50, 9.0)].map { size, limit in
      try Bar.times(
        5, "ack of \(size) in one commit / single acks, per item",
        Statistics.ratios(rates[size] ?? [], to: single), .atLeast(limit))
    }
    let text = try sizes.map { size in
      "by \(size): \(BenchText.fixed(try Statistics.median(rates[size] ?? []), 0))/s"
    }
    return BenchSection(
      title: "acks that share a commit, 8 KB on disk", bars: bars,
      notes: ["acknowledged " + text.joined(separator: ", ")])
  }

  private static func itemsPerSecond(
    _ size: Int, items: Int, seed: UInt64, _ workbench: Workbench
  ) throws -> Double {
    try workbench.scratch { directory in
      let queue = try QueueSubject(path: directory + "/queue.sqlite")
      defer { queue.close() }
      var payloads = Payloads(seed: seed)
      try queue.fill(to: BenchPlan.length + items, from: &payloads)
      // Read beforehand, as by an uploader: only the removal is measured.
      let heads = try queue.heads(items)
      let samples = try Samples.measure(items / size) { batch in
        try queue.acknowledge(Array(heads[batch * size..<(batch + 1) * size]))
      }
      return try samples.perSecond() * Double(size)
    }
  }
}

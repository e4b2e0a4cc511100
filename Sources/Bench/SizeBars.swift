/// Bar 8: the file does not grow with the number of entries that have passed through it.
enum SizeBars {
  /// The size of the file and its log at one moment, and the size of the live data.
  struct Sample: Equatable {
    var bytes: Int
    var liveBytes: Int
  }

  private static let sampleEvery = 100
  /// Summing up the tombstones reads the whole table, so it is not done at each sample.
  private static let liveEvery = 1_000
  private static let megabyte = 1_000_000.0
  private static let burst = 10_000

  static func section(_ plan: BenchPlan, _ workbench: Workbench) throws -> BenchSection {
    let (sizes, samples) = try workbench.scratch { try cycles(plan.cycles, $0 + "/queue.sqlite") }
    let drained = try workbench.scratch { try burstAndDrain($0 + "/queue.sqlite") }
    let excess = samples.map { $0.bytes - $0.liveBytes }.max() ?? 0
    let last = samples.last ?? Sample(bytes: 0, liveBytes: 0)
    return BenchSection(
      title: "size of the file and its log over \(plan.cycles) cycles, 8 KB, queue length 50",
      bars: [
        Bar(
          number: 8, what: "largest in the second half / in the first half", measured: try growth(sizes),
          bound: .atMost(1.05)),
        Bar(
          number: 8, what: "size beyond the live data, after a pause", unit: .megabytes,
          measured: Double(excess) / megabyte, bound: .atMost(1)),
        Bar(
          number: 8, what: "size after a burst of 10,000 and a drain", unit: .megabytes,
          measured: Double(drained.bytes) / megabyte, bound: .atMost(1)),
      ],
      notes: [
        "after the cycles \(last.bytes) bytes, of which \(last.liveBytes) live; "
          + "after the drain \(drained.bytes), of which \(drained.liveBytes) live; "
          + "at most \(sizes.max() ?? 0) without a pause of 1,000 cycles"
      ])
  }

  /// The largest size of the second half divided by the largest of the first.
  static func growth(_ sizes: [Int]) throws(BenchError) -> Double {
    let half = sizes.count / 2
    guard let first = sizes[..<half].max(), let second = sizes[half...].max(), first > 0 else {
      throw .noSamples("growth of the file")
    }
    return Double(second) / Double(first)
  }

  private static func cycles(_ count: Int, _ path: String) throws -> (sizes: [Int], samples: [Sample]) {
    let queue = try QueueSubject(path: path)
    defer { queue.close() }
    var payloads = Payloads(seed: 8)
    try queue.fill(to: BenchPlan.length, from: &payloads)
    var sizes: [Int] = []
    var samples: [Sample] = []
    for cycle in 1...count {
      try queue.enqueue(payloads.next())
      try queue.acknowledge()
      // Before the maintenance, so that the log has its largest size.
      if cycle.isMultiple(of: sampleEvery) { sizes.append(try bytes(path)) }
      guard cycle.isMultiple(of: liveEvery) else { continue }
      try queue.maintain()
      samples.append(try sample(path, queue))
    }
    return (sizes, samples)
  }

  private static func burstAndDrain(_ path: String) throws -> Sample {
    let queue = try QueueSubject(path: path)
    defer { queue.close() }
    var payloads = Payloads(seed: 88)
    try queue.fill(to: burst, from: &payloads)
    for _ in 0..<burst { try queue.acknowledge() }
    try queue.maintain()
    return try sample(path, queue)
  }

  private static func bytes(_ path: String) throws -> Int {
    try SystemFile.size(of: path) + SystemFile.size(of: path + "-wal")
  }

  private static func sample(_ path: String, _ queue: QueueSubject) throws -> Sample {
    let live =
      try queue.count() * BenchPlan.payloadBytes + TableBytes.sum(of: QueueSubject.tombstoneTable, in: path)
    return Sample(bytes: try bytes(path), liveBytes: live)
  }
}

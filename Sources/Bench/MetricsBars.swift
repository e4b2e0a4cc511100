import PurchaseQueue
import PurchaseSync

/// Bar 13: what an engine's metrics cost an enqueue.
///
/// Two queues take turns, entry by entry, in one process: one is measured as the engine measures it, with a closure that
/// counts, and the other has no hooks. In half of the repetitions they change places.
enum MetricsBars {
  static let title = "p50 of an enqueue, with metrics / without"

  /// The bar is about a durable enqueue. In memory, where nothing is synced, the same cost is a larger part: a note.
  static func section(
    _ plan: BenchPlan, _ disk: Workbench, memory: Workbench?
  ) throws -> BenchSection {
    let ratios = try ratios(plan, disk)
    var section = BenchSection(
      title: "metrics, 8 KB on disk", bars: [try .times(13, title, ratios, .atMost(1.01))])
    if let memory {
      let ratio = BenchText.fixed(try Statistics.median(self.ratios(plan, memory)), 3)
      section.notes.append("on tmpfs, without a sync: \(ratio)x")
    }
    return section
  }

  private static func ratios(_ plan: BenchPlan, _ workbench: Workbench) throws -> [Double] {
    try (0..<plan.repetitions).map { index in
      let pair = try workbench.scratch { directory in
        try self.pair(in: directory, plan, isMeasuredFirst: index.isMultiple(of: 2))
      }
      return try pair.measured.percentile(50) / pair.plain.percentile(50)
    }
  }

  private static func pair(
    in directory: String, _ plan: BenchPlan, isMeasuredFirst: Bool
  ) throws -> (measured: Samples, plain: Samples) {
    let tally = MetricsTally()
    var configuration = SyncConfiguration(path: directory + "/measured.sqlite")
    configuration.metrics = { tally.add($0) }
    let meter = Meter(configuration)
    var payloads = Payloads(seed: 13)
    // The one that is opened and filled first may lie better in memory.
    func open(_ name: String, _ changes: (@Sendable (QueueChange) -> Void)?) throws -> QueueSubject {
      let queue = try QueueSubject(path: directory + name, changes: changes)
      try queue.fill(to: BenchPlan.length, from: &payloads)
      return queue
    }
    let early = try open("/a.sqlite", isMeasuredFirst ? meter.changes : nil)
    let late = try open("/b.sqlite", isMeasuredFirst ? nil : meter.changes)
    let (measured, plain) = isMeasuredFirst ? (early, late) : (late, early)
    defer {
      measured.close()
      plain.close()
    }
    let work = payloads.next(plan.operations, of: BenchPlan.payloadBytes)
    let clock = ContinuousClock()
    var samples = (measured: Samples(), plain: Samples())
    func enqueueMeasured(_ index: Int) throws {
      let begin = clock.now
      let interval = meter.begin(.receive)
      try measured.enqueue(work[index])
      meter.end(interval, reason: "stored")
      samples.measured.nanoseconds.append((clock.now - begin).wholeNanoseconds)
    }
    func enqueuePlain(_ index: Int) throws {
      let begin = clock.now
      try plain.enqueue(work[index])
      samples.plain.nanoseconds.append((clock.now - begin).wholeNanoseconds)
    }
    for index in work.indices {
      if index.isMultiple(of: 2) {
        try enqueueMeasured(index)
        try enqueuePlain(index)
      } else {
        try enqueuePlain(index)
        try enqueueMeasured(index)
      }
    }
    guard tally.count >= 2 * work.count else { throw BenchError.noSamples("measurements") }
    return samples
  }
}

/// The first half of bar 5, and bar 10: the queue behind an actor.
enum AsyncBars {
  /// One call, with its number. Durable when it returns.
  typealias Operation = @Sendable (Int) async throws -> Void

  struct Run: Sendable {
    var samples: Samples
    /// From the start of the first call to the end of the last one.
    var elapsed: Duration

    func perSecond() throws(BenchError) -> Double {
      guard elapsed.wholeNanoseconds > 0 else { throw .noSamples("concurrent operations per second") }
      return Double(samples.nanoseconds.count) * 1e9 / Double(elapsed.wholeNanoseconds)
    }
  }

  static let concurrentCallers = 8
  private static let callersTitle = "\(concurrentCallers) concurrent callers / one caller"
  private static let callersBound = Bar.Bound.atLeast(2.2)
  private static let latencyTitle = "p50 of the async call / of the synchronous one"
  private static let latencyBound = Bar.Bound.atMost(1.25)

  static func section(_ plan: BenchPlan, _ workbench: Workbench) async throws -> BenchSection {
    let calls = try await callers(plan) {
      try await AsyncQueueSubject(path: workbench.fresh() + "/queue.sqlite").operation()
    }
    let waits = try await latency(plan) {
      let (queue, ready) = try synchronous(plan, workbench)
      defer { queue.close() }
      return try Samples.measure(plan.operations) { try queue.enqueue(ready[$0]) }
    } _: {
      try await AsyncQueueSubject(path: workbench.fresh() + "/queue.sqlite").operation()
    }
    let rates = try await throughput(plan) {
      let (queue, ready) = try synchronous(plan, workbench)
      defer { queue.close() }
      return try Samples.measure(plan.operations) { try queue.enqueue(ready[$0]) }
    } _: {
      try await AsyncQueueSubject(path: workbench.fresh() + "/queue.sqlite").operation()
    }
    return BenchSection(title: "the asynchronous queue, 8 KB on disk", bars: [calls, waits] + rates)
  }

  private static func synchronous(
    _ plan: BenchPlan, _ workbench: Workbench
  ) throws -> (QueueSubject, [[UInt8]]) {
    let queue = try QueueSubject(path: workbench.fresh() + "/queue.sqlite")
    var payloads = Payloads(seed: 5)
    try queue.fill(to: BenchPlan.length, from: &payloads)
    return (queue, payloads.next(plan.operations, of: BenchPlan.payloadBytes))
  }

  /// One caller in a task, and what an app sees: one caller on the main actor, whose thread has to wake up for every
  /// result. The median of a caller in the pool hides that.
  private static func throughput(
    _ plan: BenchPlan, synchronous: () throws -> Samples, _ prepare: () async throws -> Operation
  ) async throws -> [Bar] {
    var (direct, inTask, onMain): ([Double], [Double], [Double]) = ([], [], [])
    for _ in 0..<plan.repetitions {
      direct.append(try synchronous().perSecond())
      let run = try await measure(callers: 1, operations: plan.operations, try await prepare())
      inTask.append(try run.perSecond())
      onMain.append(try await onMainActor(plan.operations, try await prepare()).perSecond())
    }
    return try [
      .times(10, throughputTitle("in a task"), Statistics.ratios(inTask, to: direct), .atLeast(0.85)),
      .times(10, throughputTitle("on the main actor"), Statistics.ratios(onMain, to: direct), .atLeast(0.8)),
    ]
  }

  private static func throughputTitle(_ place: String) -> String {
    "one async caller \(place) / synchronous, per second"
  }

  @MainActor private static func onMainActor(_ count: Int, _ operation: Operation) async throws -> Samples {
    let clock = ContinuousClock()
    var samples = Samples()
    var last = clock.now
    for index in 0..<count {
      try await operation(index)
      let now = clock.now
      samples.nanoseconds.append((now - last).wholeNanoseconds)
      last = now
    }
    return samples
  }

  /// Makes `operations` calls from concurrent callers; each caller waits for its own call.
  static func measure(
    callers: Int, operations: Int, _ operation: @escaping Operation
  ) async throws -> Run {
    let clock = ContinuousClock()
    let begin = clock.now
    let all = try await withThrowingTaskGroup(of: Samples.self) { group in
      for caller in 0..<callers {
        group.addTask {
          var samples = Samples()
          for index in stride(from: caller, to: operations, by: callers) {
            let start = clock.now
            try await operation(index)
            samples.nanoseconds.append((clock.now - start).wholeNanoseconds)
          }
          return samples
        }
      }
      var all = Samples()
      for try await samples in group { all.nanoseconds += samples.nanoseconds }
      return all
    }
    return Run(samples: all, elapsed: clock.now - begin)
  }

  /// Bar 5: `prepare` makes a fresh queue and returns the call to be measured; it is called before each run.
  static func callers(
    _ plan: BenchPlan, _ prepare: () async throws -> Operation
  ) async throws -> Bar {
    var one: [Double] = []
    var many: [Double] = []
    for _ in 0..<plan.repetitions {
      one.append(
        try await measure(callers: 1, operations: plan.operations, try await prepare()).perSecond())
      many.append(
        try await measure(callers: concurrentCallers, operations: plan.operations, try await prepare())
          .perSecond())
    }
    return try .times(5, callersTitle, Statistics.ratios(many, to: one), callersBound)
  }

  /// Bar 10: `synchronous` is one run of the same work without the actor.
  static func latency(
    _ plan: BenchPlan, synchronous: () throws -> Samples, _ prepare: () async throws -> Operation
  ) async throws -> Bar {
    var through: [Double] = []
    var direct: [Double] = []
    for _ in 0..<plan.repetitions {
      direct.append(try synchronous().percentile(50))
      let run = try await measure(callers: 1, operations: plan.operations, try await prepare())
      through.append(try run.samples.percentile(50))
    }
    return try .times(10, latencyTitle, Statistics.ratios(through, to: direct), latencyBound)
  }
}

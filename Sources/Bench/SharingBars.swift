import Foundation

/// Bar 12: two processes that write to one queue without a pause share it fairly.
enum SharingBars {
  static func section(_ plan: BenchPlan, _ workbench: Workbench) async throws -> BenchSection {
    var (ratios, notes): ([Double], [String]) = ([], [])
    for _ in 0..<max(plan.repetitions / 3, 1) {
      let path = try workbench.fresh() + "/queue.sqlite"
      let alone = try latency(path, workbench.child)
      let child = workbench.child
      let both = try await withThrowingTaskGroup(of: Double.self) { group in
        for _ in 0..<2 { group.addTask { try await detached { try latency(path, child) } } }
        return try await group.reduce(into: [Double]()) { $0.append($1) }
      }
      let worst = both.max() ?? 0
      ratios.append(worst / alone)
      notes.append(
        "p99 alone \(milliseconds(alone)), of two \(both.map(milliseconds).joined(separator: " and "))")
    }
    return BenchSection(
      title: "two processes that write without a pause, 8 KB on disk",
      bars: [try .times(12, "p99 of an enqueue, the slower of two / alone", ratios, .atMost(10))],
      notes: notes)
  }

  /// The p99 of the enqueues of a process of its own, in nanoseconds.
  private static func latency(_ path: String, _ child: BenchChild) throws -> Double {
    let output = try child.load(["contend", "--path", path, "--count", "\(BenchPlan.tracedOperations)"])
    guard let latency = Double(output.filter { !$0.isWhitespace }) else {
      throw BenchError.noSamples("p99 of an enqueue")
    }
    return latency
  }

  /// Waiting for a child holds no thread of the cooperative pool.
  private static func detached(_ work: @escaping @Sendable () throws -> Double) async throws -> Double {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
    }
  }

  private static func milliseconds(_ nanoseconds: Double) -> String {
    BenchText.fixed(nanoseconds / 1_000_000, 2) + " ms"
  }
}

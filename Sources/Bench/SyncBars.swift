import Foundation

/// Bar 1: the number of sync calls, counted by strace.
enum SyncBars {
  private static let titles = [
    "syncs per enqueue commit", "syncs per ack commit", "syncs of the directory when the file is made",
    "syncs per enqueue with a directory vault", "syncs per ack with a directory vault",
  ]
  private static let bounds: [Bar.Bound] = [
    .atMost(1.02), .atMost(1.02), .atLeast(1), .atMost(2.5), .atMost(1.02),
  ]

  static func section(_ workbench: Workbench) throws -> BenchSection {
    var section = BenchSection(title: "system calls that sync, \(BenchPlan.tracedOperations) operations")
    guard let tracer = try SyncTracer.find(workbench, command: "bench-load") else {
      section.bars = notMeasured(SyncTracer.missing)
      return section
    }
    section.bars = try workbench.scratch { try measure(tracer, $0) }
    return section
  }

  private static func measure(_ tracer: SyncTracer, _ directory: String) throws -> [Bar] {
    let path = directory + "/queue.sqlite"
    let creation = try tracer.trace(["enqueue", "--path", path])
    let count = BenchPlan.tracedOperations
    try tracer.child.load(["enqueue", "--path", path, "--length", "\(BenchPlan.length)"])
    let enqueue = try tracer.syncs(of: "enqueue", count, path)
    let acknowledge = try tracer.syncs(of: "acknowledge", count, path)
    let vault = ["--vault", directory + "/vault"]
    let mirrored = directory + "/mirrored.sqlite"
    try tracer.child.load(["enqueue", "--path", mirrored, "--length", "\(BenchPlan.length)"] + vault)
    let measured = [
      enqueue, acknowledge, Double(creation.count { $0.path == directory }),
      try tracer.syncs(of: "enqueue", BenchPlan.mirroredOperations, mirrored, vault),
      try tracer.syncs(of: "acknowledge", BenchPlan.mirroredOperations, mirrored, vault),
    ]
    return titles.indices.map {
      Bar(number: 1, what: titles[$0], unit: .count, measured: measured[$0], bound: bounds[$0])
    }
  }

  private static func notMeasured(_ reason: String) -> [Bar] {
    zip(titles, bounds).map {
      Bar(number: 1, what: $0, unit: .count, bound: $1, reason: reason)
    }
  }
}

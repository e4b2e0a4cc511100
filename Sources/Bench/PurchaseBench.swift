import Foundation
import PurchaseQueue

/// `bench purchase`: what one purchase through a `Shop` costs, with a store and a backend that answer at once.
struct PurchaseBench {
  static let bars = [1, 2, 3, 4, 5]

  private static let backlog = 1_000
  private static let history = 3_000
  private static let longQueue = 10_000
  /// A sync of a phone's flash, simulated.
  private static let slowSync = 5.0
  /// Three, and what a processor takes to wake up after each; a fourth sync misses it.
  private static let mostWaits = 3.8

  let options: BenchOptions
  let child: BenchChild

  func measure(_ report: (BenchSection) -> Void) throws {
    let workbench = try Workbench(below: options.directory, name: "purchase-bench", child)
    defer { workbench.remove() }
    if options.wants(1, 2) { report(try syncs(workbench)) }
    if options.wants(3) { report(try work(workbench)) }
    if options.wants(4) { report(try start(workbench)) }
    if options.wants(5) { report(try steps(workbench)) }
  }

  // MARK: Syncs

  private func syncs(_ workbench: Workbench) throws -> BenchSection {
    var section = BenchSection(title: "system calls that sync, counted by strace")
    let what = "syncs per purchase, from purchase to confirmed"
    let drained = "syncs for a backlog of \(Self.backlog)"
    guard let tracer = try SyncTracer.find(workbench, command: "bench-purchase") else {
      section.bars = [
        Bar(number: 1, what: what, unit: .count, bound: .atMost(3.2), reason: SyncTracer.missing),
        Bar(number: 2, what: drained, unit: .count, bound: .atMost(30), reason: SyncTracer.missing),
      ]
      return section
    }
    section.bars = try workbench.scratch { directory in
      var bars: [Bar] = []
      if options.wants(1) {
        let path = directory + "/shop.sqlite"
        let (few, many) = (100, options.quick ? 300 : 600)
        let calls = try [few, many].map { try tracer.trace(["shop", path, "\($0)"]).count }
        bars.append(
          Bar(
            number: 1, what: what, unit: .count, measured: Double(calls[1] - calls[0]) / Double(many - few),
            bound: .atMost(3.2)))
      }
      if options.wants(2) {
        let path = directory + "/backlog.sqlite"
        try child.load(["fill", path, "\(Self.backlog)"], command: "bench-purchase")
        let calls = try tracer.trace(["drain", path, "\(Self.backlog)"]).count
        bars.append(
          Bar(number: 2, what: drained, unit: .count, measured: Double(calls), bound: .atMost(30)))
      }
      return bars
    }
    return section
  }

  // MARK: Work

  /// Processor time with and without history, in turns.
  private func work(_ workbench: Workbench) throws -> BenchSection {
    try workbench.scratch { directory in
      let old = directory + "/old.sqlite"
      try child.load(["shop", old, "\(options.quick ? 300 : Self.history)"], command: "bench-purchase")
      var (fresh, grown): ([PurchaseLoad.Figures], [PurchaseLoad.Figures]) = ([], [])
      for repetition in 0..<(options.quick ? 3 : 9) {
        fresh.append(try figures(directory + "/new-\(repetition).sqlite"))
        grown.append(try figures(old))
      }
      let ratios = try Statistics.ratios(
        grown.map(\.processorMilliseconds), to: fresh.map(\.processorMilliseconds))
      let past = options.quick ? 300 : Self.history
      return BenchSection(
        title: "one purchase through a shop, medians",
        bars: [
          try .times(3, "processor time after \(past) purchases / none", ratios, .atMost(1.2))
        ],
        notes: [try line("no history", fresh), try line("\(past) purchases before", grown)])
    }
  }

  // MARK: Steps

  /// What a person waits for, on this disk and on one where each sync takes longer.
  private func steps(_ workbench: Workbench) throws -> BenchSection {
    let what = "syncs that a purchase waits for, at \(BenchText.fixed(Self.slowSync, 0)) ms each"
    var section = BenchSection(title: "the steps of a purchase, from its call, medians")
    guard let tracer = try SyncTracer.find(workbench, command: "bench-purchase") else {
      section.bars = [
        Bar(number: 5, what: what, unit: .count, bound: .atMost(Self.mostWaits), reason: SyncTracer.missing)
      ]
      return section
    }
    var (fast, slow): ([[Double]], [[Double]]) = ([], [])
    var waits: [Double] = []
    let returned = PurchaseStep.allCases.firstIndex(of: .returned) ?? 0
    try workbench.scratch { directory in
      for repetition in 0..<(options.quick ? 3 : 9) {
        // Both times under the tracer, and a plain file as the measure: what strace costs itself counts for neither.
        func measured(_ delay: Double) throws -> (steps: [Double], sync: Double) {
          let wrapper = tracer.delaying(microseconds: Int(delay * 1_000))
          let path = directory + "/\(repetition)-\(delay)"
          let sync = ["sync", path + ".log", "100"]
          return (
            try figures(path, under: wrapper).steps,
            try number(child.load(sync, command: "bench-purchase", under: wrapper))
          )
        }
        let (now, late) = (try measured(0), try measured(Self.slowSync))
        fast.append(now.steps)
        slow.append(late.steps)
        waits.append((late.steps[returned] - now.steps[returned]) / (late.sync - now.sync))
      }
    }
    section.bars = [try .median(5, what, waits, .atMost(Self.mostWaits), .count)]
    section.notes = [
      "this disk: " + PurchaseSteps.text(try PurchaseSteps.medians(fast)),
      "each sync \(BenchText.fixed(Self.slowSync, 0)) ms longer: "
        + PurchaseSteps.text(try PurchaseSteps.medians(slow)),
    ]
    return section
  }

  // MARK: Start

  private func start(_ workbench: Workbench) throws -> BenchSection {
    try workbench.scratch { directory in
      let path = directory + "/queue.sqlite"
      try child.load(["fill", path, "\(Self.longQueue)"], command: "bench-purchase")
      let times = try (0..<(options.quick ? 2 : 5)).map { _ in
        try number(child.load(["open", path, "9"], command: "bench-purchase"))
      }
      return BenchSection(
        title: "a start with \(Self.longQueue) entries",
        bars: [try .median(4, "opening, milliseconds", times, .atMost(25), .milliseconds)])
    }
  }

  private func number(_ output: String) throws -> Double {
    try JSONDecoder().decode(Double.self, from: Data(output.utf8))
  }

  private func figures(_ path: String, under wrapper: [String] = []) throws -> PurchaseLoad.Figures {
    let output = try child.load(["shop", path, "100"], command: "bench-purchase", under: wrapper)
    return try JSONDecoder().decode(PurchaseLoad.Figures.self, from: Data(output.utf8))
  }

  private func line(_ name: String, _ figures: [PurchaseLoad.Figures]) throws -> String {
    let values = try [
      Statistics.median(figures.map(\.processorMilliseconds)), Statistics.median(figures.map(\.statements)),
    ]
    return BenchText.left(name, 24) + BenchText.fixed(values[0], 2) + " ms of processor time; "
      + BenchText.fixed(values[1], 0) + " statements; "
      + PurchaseSteps.text(try PurchaseSteps.medians(figures.map(\.steps)))
  }
}

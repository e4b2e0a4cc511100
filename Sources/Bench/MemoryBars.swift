/// Bar 9: peak memory of a child that works on a queue, beyond one that does nothing.
enum MemoryBars {
  private static let repetitions = 5
  private static let cycles = 200
  private static let shortLength = 10

  static func section(_ workbench: Workbench) throws -> BenchSection {
    var section = BenchSection(title: "peak memory of a process of its own")
    guard let kilobytes = try measure(workbench) else {
      let reason = "the system has no /proc/self/status"
      section.bars = [base(nil, reason), growth(nil, reason)]
      return section
    }
    section.bars = [
      base((kilobytes.short - kilobytes.idle) / 1_024, nil),
      growth((kilobytes.long - kilobytes.short) / 1_024, nil),
    ]
    let text = [("idle", kilobytes.idle), ("10 entries", kilobytes.short), ("10,000", kilobytes.long)]
      .map { "\($0.0) \(BenchText.fixed($0.1 / 1_024, 2)) MB" }
    section.notes = [text.joined(separator: ", ")]
    return section
  }

  /// Medians in kilobytes; nil without /proc.
  private static func measure(
    _ workbench: Workbench
  ) throws -> (idle: Double, short: Double, long: Double)? {
    try workbench.scratch { directory in
      let (short, long) = (directory + "/short.sqlite", directory + "/long.sqlite")
      // Other processes fill the queue, so that the memory for filling is not measured.
      let child = workbench.child
      try child.load(["enqueue", "--path", short, "--length", "\(shortLength)"])
      try child.load(["enqueue", "--path", long, "--length", "\(BenchPlan.longLength)"])
      var idle: [Double] = []
      var shortPeaks: [Double] = []
      var longPeaks: [Double] = []
      for _ in 0..<repetitions {
        guard let nothing = try child.kilobytes(["idle"]),
          let few = try child.kilobytes(["cycle", "--path", short, "--count", "\(cycles)"]),
          let many = try child.kilobytes(["cycle", "--path", long, "--count", "\(cycles)"])
        else { return nil }
        idle.append(nothing)
        shortPeaks.append(few)
        longPeaks.append(many)
      }
      return (
        try Statistics.median(idle), try Statistics.median(shortPeaks), try Statistics.median(longPeaks)
      )
    }
  }

  private static func base(_ measured: Double?, _ reason: String?) -> Bar {
    Bar(
      number: 9, what: "10 entries, beyond a process that does nothing", unit: .megabytes,
      measured: measured, bound: .atMost(6), reason: reason)
  }

  private static func growth(_ measured: Double?, _ reason: String?) -> Bar {
    Bar(
      number: 9, what: "10,000 entries, beyond 10 entries", unit: .megabytes, measured: measured,
      bound: .atMost(2), reason: reason)
  }
}

import FaultInjection

/// What an exploration of the shell found.
struct ShellReport {
  let sum: ShellSum
  let seconds: Double

  /// Runs of fewer seeds say nothing about rare meetings.
  private var isLarge: Bool { sum.seeds >= 1_000 }

  var rarelyExercised: [ShellInvariant] {
    guard isLarge else { return [] }
    return zip(ShellInvariant.allCases, sum.exercised).filter { $0.1 < $0.0.minimum }.map(\.0)
  }

  var missedMarks: [ShellMark] {
    isLarge ? ShellMark.allCases.filter { sum.marks[$0.rawValue] == 0 } : []
  }

  var isGood: Bool { sum.failures.isEmpty && rarelyExercised.isEmpty && missedMarks.isEmpty }

  static func replay(_ seed: UInt64, _ plant: ShellPlant? = nil) -> String {
    "purchase-simulator replay --shell --seed \(seed)" + (plant.map { " --plant \($0.rawValue)" } ?? "")
  }

  var lines: [String] {
    let rate = { (count: Int) in Int(Double(count) / max(seconds, 0.001)) }
    var lines = [
      Counted.text(sum.seeds, "life", "lives") + " of the real engine, " + Counted.text(sum.jobs, "job")
        + ", "
        + Counted.text(sum.choices, "choice") + " between jobs in "
        + "\(Double(Int(seconds * 10)) / 10) s: \(rate(sum.seeds)) lives/s, \(rate(sum.jobs)) jobs/s",
      "",
    ]
    lines += TextTable.lines(
      [["invariant", "", "exercised"]]
        + zip(ShellInvariant.allCases, sum.exercised).map { [$0.rawValue, $0.sentence, String($1)] })
    let marks = ShellMark.allCases.map { "\($0) \(sum.marks[$0.rawValue])" }
    lines += ["", "marks: " + marks.joined(separator: ", "), ""]
    for invariant in rarelyExercised {
      lines.append("invariant \(invariant.rawValue) was exercised too rarely")
    }
    for mark in missedMarks { lines.append("mark \(mark) was not hit") }
    for failure in sum.failures.prefix(20) {
      lines.append("seed \(failure.seed): \(failure.invariant), \(failure.what)")
    }
    if let failure = sum.failures.first { lines.append(Self.replay(failure.seed)) }
    lines.append(
      sum.failures.isEmpty
        ? "no invariant was broken"
        : Counted.text(sum.failures.count, "life", "lives") + " broke an invariant")
    return lines
  }
}

import Fleet

/// `fleet --experiments`: published experiments, made again.
struct FleetExperiments {
  let seed: UInt64
  let json: Bool

  /// Of the studies that need an average: enough that two seeds differ by a hundredth.
  private static let runs = 400

  func execute() -> Int32 {
    let experiments = PublishedExperiments(runs: Self.runs, seed: seed)
    if json {
      for row in experiments.rows { Terminal.json(row) }
    } else {
      var table = [["study", "what was measured", "published", "here", ""]]
      for row in experiments.rows {
        table.append([row.study, row.what, row.theirs, row.ours, row.agrees ? "agrees" : "DIFFERS"])
      }
      TextTable.lines(table).forEach(Terminal.line)
    }
    return experiments.agrees ? ExitCode.ok : ExitCode.promiseBroken
  }
}

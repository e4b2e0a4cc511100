import Exploration
import Foundation
import PurchaseQueue

/// `replay --why --plant all`: whether the named event is the one in which a planted bug did its damage.
struct WhyMeasure {
  let choice: SimulationChoice

  func execute(_ name: String) throws -> Int32 {
    for bug in choice.catalogue.bugs where name == "all" || bug.name == name {
      var options = ExploreOptions()
      options.choice = choice
      let search = BugSearch(options: options, choice: choice)
      guard let (_, scenario) = try search.smallest(bug.name) else { continue }
      let begin = ProcessInfo.processInfo.systemUptime
      guard let run = try scenario.failingRun() else { continue }
      let mended = try FutureShares(of: run.violation.event) { try run.fails(after: $0, future: $1, .mended) }
      let middle = ProcessInfo.processInfo.systemUptime
      let same = try FutureShares(of: run.violation.event) { try run.fails(after: $0, future: $1, .same) }
      let end = ProcessInfo.processInfo.systemUptime
      let deeds = try run.deeds()
      Terminal.line(
        "\(bug.name) fails \(run.violation.event) mended \(mended.jump) \(mended.futures) same \(same.jump) \(same.futures) "
          + "seconds \(middle - begin) \(end - middle) deeds "
          + deeds.suffix(8).map { "\($0.event):\($0.sale + 1)" }.joined(separator: " ") + " | "
          + run.violation.what)
    }
    return 0
  }
}

extension FailureScenario {
  func failingRun() throws -> FailingRun? {
    guard let runner = runner as? MachineRunner else { return nil }
    return try FailingRun(keeping: shrinking.places, seed: seed) { (places, trace) throws(QueueError) in
      try runner.simulation(seed, keeping: places, trace: trace)
    }
  }
}

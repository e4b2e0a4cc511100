import Exploration
import Foundation

/// `explore --guided`: the search that knows what it has not seen.
struct GuidedCommand {
  let options: ExploreOptions
  let choice: SimulationChoice

  func execute() throws -> Int32 {
    if options.compares { return try compare() }
    var explorer = GuidedExplorer(
      choice, GuidedSearch(profile: choice.profile, from: options.from), jobs: options.jobs)
    let begin = ProcessInfo.processInfo.systemUptime
    try explorer.run { explorer in
      explorer.broken.count >= options.failures
        || (options.minutes.map { ProcessInfo.processInfo.systemUptime - begin >= Double($0) * 60 }
          ?? (explorer.search.runs >= options.seeds))
    }
    Terminal.line(
      "\(explorer.search.runs) runs, \(explorer.search.behaviours) behaviours, \(explorer.points.last?.seconds ?? 0)"
    )
    for broken in explorer.broken.prefix(10) {
      Terminal.line("run \(broken.number): \(broken.violation.invariant) \(broken.violation.what)")
    }
    return explorer.broken.isEmpty ? ExitCode.ok : ExitCode.promiseBroken
  }

  private func compare() throws -> Int32 {
    var random = GuidedExplorer(
      choice, GuidedSearch(profile: choice.profile, from: options.from, isGuided: false), jobs: 1)
    try random.run { $0.search.runs >= options.seeds }
    let seconds = random.points.last?.seconds ?? 0
    var guided = GuidedExplorer(
      choice, GuidedSearch(profile: choice.profile, from: options.from), jobs: 1)
    try guided.run { $0.points.last?.seconds ?? 0 >= seconds }
    Terminal.line(
      "random \(random.search.runs) runs \(random.search.behaviours) behaviours \(seconds) s \(random.sum.events) events"
    )
    Terminal.line(
      "guided \(guided.search.runs) runs \(guided.search.behaviours) behaviours \(guided.points.last?.seconds ?? 0) s \(guided.sum.events) events, kept \(guided.search.keptInputs)"
    )
    for broken in (random.broken + guided.broken).prefix(10) {
      Terminal.line("run \(broken.number): \(broken.violation.invariant) \(broken.violation.what)")
    }
    return 0
  }
}

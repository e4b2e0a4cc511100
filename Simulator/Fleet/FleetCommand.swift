import Fleet
import Foundation

/// `fleet`: what retry policies do to a backend when it comes back.
struct FleetCommand {
  let options: FleetOptions

  func execute() -> Int32 {
    Interruption.shared.watch()
    if options.isOfWholePath { return wholePath() }
    if !options.json { Terminal.line(heading) }
    var results: [FleetResult] = []
    for policy in options.policies where !Interruption.shared.isAsked {
      let progress = FleetProgress(policy.rawValue, horizon: options.scenario.horizon)
      let begin = ProcessInfo.processInfo.systemUptime
      let tally = policy.run(options.scenario) { second in
        progress.show(second)
        return !Interruption.shared.isAsked
      }
      progress.clear()
      let result = tally.result(
        policy.rawValue, wallSeconds: ProcessInfo.processInfo.systemUptime - begin)
      results.append(result)
      if options.json { Terminal.json(result) }
    }
    if !options.json { FleetTable.lines(results).forEach(Terminal.line) }
    if let code = Interruption.shared.exitCode {
      Terminal.error(
        "purchase-simulator: ended after " + Counted.text(results.count, "policy", "policies")
          + ", the last one incomplete")
      return code
    }
    return ExitCode.ok
  }

  private func wholePath() -> Int32 {
    do {
      return try WholePathCommand(options.scenario, json: options.json).execute()
    } catch {
      Terminal.error("purchase-simulator: the real machines could not be made: \(error)")
      return ExitCode.internal
    }
  }

  private var heading: String {
    let scenario = options.scenario
    return "\(Counted.text(scenario.devices, "device")), \(scenario.fault.rawValue) of "
      + "\(SpanOption.words(scenario.outage)), \(scenario.capacity) requests/s, clocks "
      + "\(scenario.clocks.rawValue), foreground \(scenario.foreground.rawValue), "
      + "\(SpanOption.words(scenario.horizon)) in all, seed \(scenario.seed)"
  }
}

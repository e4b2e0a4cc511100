import CommandLineTools
import Fleet
import Foundation

/// `fleet`: what retry policies do to a backend when it comes back.
struct FleetCommand {
  let options: FleetOptions

  func execute() -> Int32 {
    // Ctrl-C ends these at once: they have nothing to show before their end.
    if options.experiments { return FleetExperiments(options: options).execute() }
    if options.whole { return WholeFleetCommand(options: options).execute() }
    if options.advise { return FleetAdvisor(options: options).execute() }
    if let path = options.report, let reason = ReportFile.refusal(of: path) {
      Terminal.complain("\(path) could not be written: \(reason)")
      return ExitCode.internal
    }
    Interruption.shared.watch()
    if !options.json { Terminal.line(Self.words(options)) }
    let runs = run()
    if !options.json { FleetTable.lines(runs.map(\.0)).forEach(Terminal.line) }
    if let path = options.report {
      let page = FleetPage(options, runs, command: ReportFile.commandLine, madeAt: Date())
      guard ReportFile.write(page, to: path) else { return ExitCode.internal }
    }
    if let code = Interruption.shared.exitCode {
      let complete = runs.count { !$0.0.wasInterrupted }
      Terminal.complain("ended after " + Counted.text(complete, "policy", "policies"))
      return code
    }
    return ExitCode.ok
  }

  /// The policies one after the other. After an interruption the last one is incomplete.
  private func run() -> [(FleetResult, FleetCurves)] {
    var runs: [(FleetResult, FleetCurves)] = []
    for policy in options.policies where !Interruption.shared.isAsked {
      let progress = ProgressLine()
      let horizon = max(options.scenario.horizon, 1)
      let begin = ProcessInfo.processInfo.systemUptime
      let tally = policy.run(options.scenario, numbers: options.numbers) { second in
        progress.show { "\(policy.rawValue): \(second * 100 / horizon) %, \(Int($0)) s" }
        return !Interruption.shared.isAsked
      }
      progress.clear()
      let wall = ProcessInfo.processInfo.systemUptime - begin
      let result = tally.result(policy.rawValue, wallSeconds: wall)
      runs.append((result, tally.curves))
      if options.json { Terminal.json(result) }
    }
    return runs
  }

  /// The scenario in a sentence.
  static func words(_ options: FleetOptions) -> String {
    let scenario = options.scenario
    let asks = scenario.retryAfter.map { ", Retry-After \(SpanOption.words($0))" } ?? ""
    let push = scenario.pushFollowers < 100 ? " of \(scenario.pushFollowers) %" : ""
    let pushAt = scenario.pushAt.map { " at \(SpanOption.words($0))" } ?? ""
    let taps = scenario.taps > 0 ? ", \(Counted.text(scenario.taps, "tap"))" : ""
    return "\(Counted.text(scenario.devices, "device")), \(scenario.fault.rawValue) of "
      + "\(SpanOption.words(scenario.outage)), \(scenario.capacity) requests/s, clocks "
      + "\(scenario.clocks.rawValue), foreground \(scenario.foreground.rawValue)\(push)\(pushAt)\(taps)\(asks), "
      + "\(SpanOption.words(scenario.horizon)) in all, seed \(scenario.seed)"
  }
}

import CommandLineTools
import Exploration
import Fleet
import Foundation

/// `fleet --whole`: the engine's machine and storage on each device, next to the compact model.
struct WholeFleetCommand {
  let options: FleetOptions

  func execute() -> Int32 {
    var scenario = options.scenario
    scenario.purchasesPerDay = 0
    do {
      let begin = ProcessInfo.processInfo.systemUptime
      let fleet = try WholeFleet(scenario, numbers: options.numbers) { limits, hasVault in
        MemoryDisk(limits: limits, hasVault: hasVault)
      }
      let whole = try fleet.run()
      let seconds = ProcessInfo.processInfo.systemUptime - begin
      let compact = FleetPolicyName.engine.run(scenario, numbers: options.numbers)
      let agreement = FleetAgreement(compact.curves, whole.curves, devices: scenario.devices)
      Self.lines(whole, agreement, compact.result("engine", wallSeconds: 0), seconds: seconds)
        .forEach(Terminal.line)
      return whole.violation == nil && agreement.isClose ? ExitCode.ok : ExitCode.promiseBroken
    } catch {
      Terminal.complain("the fleet could not be run: \(error)")
      return ExitCode.internal
    }
  }

  static func lines(
    _ whole: WholeFleet.Outcome, _ agreement: FleetAgreement, _ compact: FleetResult, seconds: Double
  ) -> [String] {
    let checks = whole.checks.sorted { $0.key < $1.key }
    func percent(_ part: Double) -> String { FleetTable.decimal(part * 100) + " %" }
    var lines = [
      "whole devices: \(whole.requestsInFault) requests in the fault, \(whole.requestsAfter) after it, in "
        + "\(FleetTable.decimal(seconds, 1)) s",
      "compact model: \(compact.requestsInFault) requests in the fault, \(compact.requestsAfter) after it",
      "delivery curves at most \(percent(agreement.delivered)) apart, an hour's load \(percent(agreement.load)); "
        + (agreement.isClose ? "they agree within 5 %" : "they DIFFER by more than 5 %"),
      "invariants checked: " + checks.map { "\($0.key) \($0.value) times" }.joined(separator: ", "),
    ]
    if let violation = whole.violation {
      lines.append("invariant \(violation.invariant.text) is broken: \(violation.what)")
    }
    return lines
  }
}

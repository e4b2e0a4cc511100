import CommandLineTools
import Foundation
import ProcessFaults
import PurchaseSyncTesting
import ScenarioFormat

/// One scenario with one client: a mock server of its own, a phone of its own, and the app, which is launched on it
/// until the scenario is over.
struct ScenarioRun {
  /// More launches than any scenario needs. A client that dies at each launch ends here.
  static let launchLimit = 40

  let scenario: Scenario
  let client: Client
  let seed: UInt64
  let chaos: Bool
  let device: Device
  /// Whether messages of the app are shown.
  var isVerbose = false
  /// Collects what happens for a report; nil where there is none.
  var log: RunLog?
  /// Whether the specification of the protocol judges the run.
  var isSpecified = false
  /// A bug of the protocol that is planted around the engine; nil for none.
  var bug: AppBug?

  /// Differences from the scenario, in addition to the counts at the end.
  private struct Findings {
    var unexpected: [String] = []
    var crashes: [String] = []
    var ranOutOfTime = false

    mutating func add(_ end: ChildProcess.End) {
      if end == .ranOutOfTime { ranOutOfTime = true }
      if let complaint = end.complaint { crashes.append(complaint) }
    }
  }

  func run() throws -> Score {
    let started = Date()
    let killer = RequestKiller()
    let trace = isSpecified ? try StepTrace(below: device.directory) : nil
    let environment = try ScenarioEnvironment(
      scenario, on: device, seed: seed, log: log, trace: trace, onRequest: { killer.requestPassed($0) })
    defer { environment.server.stop() }
    let findings = try play(in: environment, killer, trace)
    let seconds = Date().timeIntervalSince(started)
    var score = try Score(
      scenario, client: client, environment: environment.server.snapshot(),
      kept: device.kept(onPhonesOf: scenario),
      seconds: seconds)
    score.delay = environment.delivery.seconds
    score.mayBeLate = scenario.asksToWait
    score.ranOutOfTime = findings.ranOutOfTime
    score.crashes = findings.crashes
    // Kills that are not the scenario's own lead to other answers.
    score.unexpected = chaos ? [] : score.unexpected + findings.unexpected
    score.judgement = try trace.map { StepJudge.judge(try $0.end()) }
    return score
  }

  private func play(
    in environment: ScenarioEnvironment, _ killer: RequestKiller, _ trace: StepTrace?
  ) throws -> Findings {
    var findings = Findings()
    var kills = RandomKills(seed: seed, areOn: chaos)
    var launches = scenario.launches
    // If the app is killed in the last launch, or deleted after it, it is opened once more.
    if let last = launches.last, last.killed != nil || last.reinstalled {
      launches.append(.init(signedIn: last.signedIn, phone: last.phone))
    }
    for launch in launches {
      for step in launch.before { try environment.perform(step) }
      try play(launch, in: environment, killer, trace, &kills, &findings)
      if let least = launch.granted {
        let granted = try environment.granted()
        if granted < least { findings.unexpected.append("\(granted) granted by then, not \(least)") }
      }
      if launch.reinstalled {
        log?.note(.app, .change, "deleted and installed again")
        try device.phone(launch.phone).reinstall()
        trace?.note(.reinstalled(phone: launch.phone))
      }
    }
    // The app is opened again until every random kill has happened.
    for _ in 0..<Self.launchLimit where kills.left > 0 {
      _ = try runApp(.init(), [], kill: kills.next(), in: environment, killer, trace)
    }
    if chaos { findings.add(try runApp(.init(), [], kill: .none, in: environment, killer, trace)) }
    return findings
  }

  /// One launch of the scenario; after a kill, the app is launched again and the person repeats the purchases that were
  /// not charged.
  private func play(
    _ launch: Scenario.Launch, in environment: ScenarioEnvironment, _ killer: RequestKiller,
    _ trace: StepTrace?, _ kills: inout RandomKills, _ findings: inout Findings
  ) throws {
    let before = try environment.server.snapshot().charges.count
    var planned = launch.killed
    for round in 1...Self.launchLimit {
      let charged = try environment.server.snapshot().charges.count - before
      let steps = AppStep.steps(launch.does, afterPurchases: charged)
      let kill = planned.map { $0.plan(round: round, launch) } ?? kills.next()
      let end = try runApp(launch, steps, kill: kill, in: environment, killer, trace)
      try Interruption.shared.check()
      guard end == .killed else {
        findings.add(end)
        if let planned, planned != .againAndAgain {
          findings.unexpected.append("the kill at \(planned.rawValue) was not met")
        }
        return
      }
      if planned == .againAndAgain { continue }
      if planned != nil, !chaos { return }
      planned = nil
    }
    findings.unexpected.append("the app was killed in each of \(Self.launchLimit) launches")
  }

  private func runApp(
    _ launch: Scenario.Launch, _ steps: [AppStep], kill: KillPlan, in environment: ScenarioEnvironment,
    _ killer: RequestKiller, _ trace: StepTrace?
  ) throws -> ChildProcess.End {
    try Interruption.shared.check()
    let app = AppRun(
      scenario: scenario, client: client, device: try device.phone(launch.phone), clock: environment.clock,
      backend: environment.server.baseURL,
      store: environment.server.baseURL, isVerbose: isVerbose, clockShift: environment.shift, log: log,
      delivery: environment.delivery, trace: trace, bug: bug)
    let least = chaos ? nil : launch.granted
    let gate = least.map { _ in device.directory + "/granted-" + UUID().uuidString }
    let child = try app.start(launch, steps, kill: kill, openUntil: gate)
    killer.watch(child, order: kill.order)
    // A process of its own, on the same files.
    let second = try launch.extension.isEmpty ? nil : app.start(launch, launch.extension)
    let end = try child.wait {
      guard let least, let gate, try environment.granted() >= least else { return }
      try Data().write(to: URL(fileURLWithPath: gate))
    }
    trace?.died(child, end, on: app.device)
    let other = second?.wait()
    if let second, let other { trace?.died(second, other, on: app.device) }
    killer.watch(nil, order: nil)
    app.note(end, kill)
    try environment.server.dropConnections()
    // A failure of the extension is a failure of the app.
    if let other, other.complaint != nil { return other }
    return end
  }
}
